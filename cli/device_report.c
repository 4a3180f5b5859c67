/* SPDX-License-Identifier: Apache-2.0
 * The report of a device: tiles by device, library and CPU, transfers, libraries and direct reads.
 */
#include "device_report.h"

#include <stdio.h>

#include "page.h"
#include "text.h"

/* Returns the reason for work on the CPU although a device was asked for; empty: there is no such
 * work, or the CPU was asked for. */
static const char *reason_of(const device_summary *t)
{
    return t->use->reason[0] != '\0' ? t->use->reason : tz_device_get_info(t->device)->reason;
}

static void print_where(const device_summary *t)
{
    const char *reason = reason_of(t);
    page_label("Device");
    text_put_string(stdout, t->use->id[0] != '\0' ? t->use->id : "the CPU", 0);
    if (reason[0] != '\0') {
        fputs(t->use->id[0] != '\0' ? ", in part the CPU: " : ": ", stdout);
        text_put_string(stdout, reason, 0);
    }
    putchar('\n');
}

static void print_device_tiles(const device_summary *t)
{
    const tz_device_use *use = t->use;
    char number[TEXT_NUMBER];
    page_label("Tiles");
    printf("%s %s there", text_count(number, use->tiles), t->verb);
    if (use->tiles_on_cpu > 0)
        printf(", %s by the CPU", text_count(number, use->tiles_on_cpu));
    if (use->tiles_redone > 0)
        printf(", %s by the CPU after it could not", text_count(number, use->tiles_redone));
    putchar('\n');
}

static void print_traffic(const device_summary *t)
{
    const tz_device_use *use = t->use;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    page_label("Waves");
    printf("%s\n", text_count(a, use->waves));
    page_label("Uploads");
    printf("%s, %s\n", text_count(a, use->uploads), text_bytes(b, use->upload_bytes));
    page_label("Downloads");
    printf("%s, %s\n", text_count(a, use->downloads), text_bytes(b, use->download_bytes));
    page_label("Launches");
    printf("%s, and %s wait%s\n", text_count(a, use->launches), text_count(b, use->syncs),
           text_plural(use->syncs));
    page_label("Memory");
    printf("%s planned", text_bytes(a, use->memory));
    if (!t->planned)
        printf(", %s held", text_bytes(b, use->peak));
    putchar('\n');
}

static void print_library_use(const device_summary *t)
{
    const tz_device_use *use = t->use;
    char number[TEXT_NUMBER];
    if (use->library[0] == '\0' && use->library_reason[0] == '\0')
        return;
    page_label("Library");
    if (use->library[0] != '\0')
        printf("%s, %s batch%s", use->library, text_count(number, use->library_calls),
               use->library_calls == 1 ? "" : "es");
    if (use->library_reason[0] != '\0') {
        fputs(use->library[0] != '\0' ? ", not all of them: " : "none: ", stdout);
        text_put_string(stdout, use->library_reason, 0);
    }
    putchar('\n');
}

/* Direct reads exist only for CUDA and local files; nothing is printed for others. */
static void print_direct(const device_summary *t)
{
    const tz_device_use *use = t->use;
    char a[TEXT_NUMBER];
    char b[TEXT_NUMBER];
    if (use->direct_reads == 0 && use->bounced_bytes == 0)
        return;
    page_label("Direct");
    printf("%s read%s, %s", text_count(a, use->direct_reads), text_plural(use->direct_reads),
           text_bytes(b, use->direct_bytes));
    if (use->bounced_bytes > 0)
        printf("; %s through memory of the host", text_bytes(a, use->bounced_bytes));
    if (use->direct_reason[0] != '\0') {
        fputs(": ", stdout);
        text_put_string(stdout, use->direct_reason, 0);
    }
    putchar('\n');
}

void device_report_print(const char *heading, const device_summary *t)
{
    if (t->device == NULL)
        return;
    page_heading(heading);
    print_where(t);
    if (t->use->id[0] == '\0')
        return;
    print_device_tiles(t);
    print_library_use(t);
    print_direct(t);
    print_traffic(t);
}

void device_report_write(json *j, const char *key, const device_summary *t)
{
    const tz_device_use *use = t->use;
    if (t->device == NULL) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_text_or_null(j, "id", use->id[0] != '\0' ? use->id : NULL);
    json_text_or_null(j, "reason", reason_of(t)[0] != '\0' ? reason_of(t) : NULL);
    json_uint(j, "tiles", use->tiles);
    json_uint(j, "tiles_on_cpu", use->tiles_on_cpu);
    json_uint(j, "tiles_redone", use->tiles_redone);
    json_uint(j, "waves", use->waves);
    json_uint(j, "uploads", use->uploads);
    json_uint(j, "upload_bytes", use->upload_bytes);
    json_uint(j, "downloads", use->downloads);
    json_uint(j, "download_bytes", use->download_bytes);
    json_uint(j, "launches", use->launches);
    json_uint(j, "syncs", use->syncs);
    json_uint(j, "memory", use->memory);
    json_uint_or_null(j, "peak", use->peak, !t->planned);
    json_text_or_null(j, "library", use->library[0] != '\0' ? use->library : NULL);
    json_uint(j, "library_calls", use->library_calls);
    json_text_or_null(j, "library_reason",
                      use->library_reason[0] != '\0' ? use->library_reason : NULL);
    json_uint(j, "direct_reads", use->direct_reads);
    json_uint(j, "direct_bytes", use->direct_bytes);
    json_uint(j, "bounced_bytes", use->bounced_bytes);
    json_text_or_null(j, "direct_reason",
                      use->direct_reason[0] != '\0' ? use->direct_reason : NULL);
    json_object_end(j);
}
