# SPDX-License-Identifier: Apache-2.0
"""The program write_case, which writes files on request."""
import os
import subprocess
import urllib.parse


class WriteProgram:
    """One process for all files."""

    def __init__(self, path, variables=None):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, **(variables or {})))

    def say(self, *words):
        """A line that is not answered."""
        line = "\t".join(escaped(word) for word in words)
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            pass  # the next answer says so

    def ask(self, *words):
        """A line and its answer: ("ok", bytes) or (result, message)."""
        self.say(*words)
        try:
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline().decode(errors="replace").rstrip("\n")
        word, _, rest = answer.partition(" ")
        if word == "ok":
            return "ok", int(rest)
        if word == "error":
            result, _, message = rest.partition(" ")
            return result, message
        return "ended", "the program ended"

    def end(self):
        """Its exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        return self.process.wait()


def escaped(word):
    """Text as write_case takes it."""
    if isinstance(word, bool):
        return str(int(word))
    return urllib.parse.quote(str(word), safe=" !#$&'()*+,/:;<=>?@[]^`{|}\"\\")
