#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_geo, fuzz_metadata and fuzz_aux to fuzz/seeds. Their formats are described
in fuzz/fuzz_geo.c, fuzz/fuzz_metadata.c and fuzz/fuzz_aux.c."""

import pathlib
import struct

SEEDS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "seeds"
DOUBLES, ASCII = 34736, 34737
DEFINITION = 4


def geo(keys=(), scale=(), tiepoints=(), matrix=(), rpc=(), flags=DEFINITION, minor=0):
    """keys: pairs of id and value; int is a SHORT, float a DOUBLE, str is text."""
    directory, doubles, text = [1, 1, minor, len(keys)], [], b""
    for key, value in keys:
        if isinstance(value, int):
            directory += [key, 0, 1, value]
        elif isinstance(value, float):
            directory += [key, DOUBLES, 1, len(doubles)]
            doubles.append(value)
        else:
            directory += [key, ASCII, len(value.encode()), len(text)]
            text += value.encode()
    arrays = [doubles, scale, tiepoints, matrix, rpc]
    packed = [struct.pack(f"<{len(values)}d", *values) for values in arrays]
    sizes = [len(directory), len(doubles), len(text)] + [len(values) for values in arrays[1:]]
    return (bytes([flags, *sizes]) + struct.pack(f"<{len(directory)}H", *directory) + packed[0]
            + text + b"".join(packed[1:]))


GEO = {
    "utm": geo([(1024, 1), (1025, 1), (1026, "WGS 84 / UTM zone 33N|"), (2049, "WGS 84|"),
                (3072, 32633)], scale=[10, 10, 0], tiepoints=[0, 0, 0, 5e5, 4e6, 0]),
    "point": geo([(1024, 2), (1025, 2), (2048, 4326)], scale=[1, -1, 0],
                 tiepoints=[0, 0, 0, 10, 50, 0]),
    "matrix": geo([(1024, 2), (2048, 4326)],
                  matrix=[1, 2, 0, 3, 4, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1]),
    "gcps": geo([(1025, 2)], tiepoints=[0, 0, 0, 1, 1, 0, 9, 0, 0, 2, 1, 0, 0, 9, 0, 1, 0, 0]),
    "rpc": geo(rpc=[float(i) for i in range(92)]),
    "sphere": geo([(1024, 2), (2048, 32767), (2049, "GCS Name = a|Datum = b|Ellipsoid = c||"),
                   (2054, 9102), (2057, 6371000.0), (2059, 0.0)]),
    "albers": geo([(1024, 1), (2048, 32767), (2056, 32767), (2057, 6378137.0), (2058, 6356752.0),
                   (2061, 2.5), (3072, 32767), (3073, 'an "own" one|'), (3074, 32767), (3075, 11),
                   (3076, 32767), (3077, 0.3), (3078, 29.5), (3079, 45.5), (3080, -96.0),
                   (3081, 23.0), (3082, 1.0), (3083, 2.0)]),
    "vertical": geo([(1024, 2), (2048, 32767), (2057, 6371000.0), (2059, 0.0), (4096, 32767),
                     (4097, "VCS Name = x||"), (4099, 9002), (5120, 2020.5)], minor=1),
    "pe_string": geo([(1024, 32767), (3073, 'ESRI PE String = GEOGCS["x"]|')]),
    "unsorted": geo([(3072, 32633), (1024, 1), (1024, 2), (60000, 5)]),
}

METADATA = {
    "gdal": b'\0\3\0\1<GDALMetadata>\n  <Item name="A">b &amp;lt; c</Item>\n'
            b'  <Item name="SCALE" sample="0" role="scale">0.5</Item>\n'
            b'  <Item name="B" domain="D" sample="2">&#228;</Item>\n</GDALMetadata>\0',
    "nested": b'\0\1\7\1<GDALMetadata><Item name="x" domain="xml:X"><a b="c">d<!-- e --></a>'
              b'<![CDATA[<]]></Item></GDALMetadata>',
    "doctype": b'\0\1\0\1<!DOCTYPE a [<!ENTITY b "c">]><GDALMetadata><Item name="x">&b;</Item>'
               b'</GDALMetadata>',
    "limits": b'\2\2\1\1<GDALMetadata>' + b'<Item name="a">b</Item>' * 4 + b'<a><b><c><d/></c></b>'
              b'</a></GDALMetadata>',
    "integer": b"\0\1\0\10-9223372036854775808",
    "float": b"\0\1\0\12-3.4028235e+38",
    "prefix": b"\0\1\0\13-9999,5 m",
    "nan": b"\0\1\0\11-nan",
}


AUX = {
    "gdal": b'\10\2\0\4<PAMDataset><SRS dataAxisToSRSAxisMapping="1,2" coordinateEpoch="2021.5">EPSG:32633</SRS>\n'
            b'  <GeoTransform>  4.4e+05, 60, 0, 3.7e+06, 0, -60</GeoTransform>\n'
            b'  <Metadata><MDI key="A">a &amp;lt; b</MDI></Metadata>\n'
            b'  <Metadata domain="xml:X" format="xml"><a b="c">d</a></Metadata>\n'
            b'  <PAMRasterBand band="1"><Description>d</Description><NoDataValue>-9999</NoDataValue>'
            b'<UnitType>m</UnitType><Offset>1</Offset><Scale>2</Scale><ColorInterp>Red</ColorInterp>'
            b'<Metadata><MDI key="STATISTICS_MEAN">3</MDI></Metadata></PAMRasterBand></PAMDataset>',
    "gcps": b'\0\1\5\1<PAMDataset><GCPList Projection="EPSG:4326"><GCP Id="" Pixel="0" Line="1" X="2" Y="3" Z="4"/>'
            b'<GCP Pixel="1" Line="2" X="3" Y="x"/><GCP Pixel="1"/></GCPList></PAMDataset>',
    "wkt": b'\0\1\0\1<PAMDataset><SRS>GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
           b'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]</SRS></PAMDataset>',
    "doctype": b'\0\1\0\1<!DOCTYPE a [<!ENTITY b "c">]><PAMDataset><SRS>&b;</SRS></PAMDataset>',
    "limits": b'\2\2\1\1<PAMDataset><Metadata>' + b'<MDI key="a">b</MDI>' * 4 + b'</Metadata><a><b><c><d/></c></b></a>'
              b'</PAMDataset>',
    "short": b'\0\1\0\1<PAMDataset>' + b'<SRS>x</SRS>' * 3 + b'<Metadata><MDI key="">b</MDI></Metadata></PAMDataset>',
    "world": b"\0\1\0\12" + b"10,5\n0\n0\n-10\n1005\n1995 x\n",
}


def main():
    for folder, seeds in (("geo", GEO), ("metadata", METADATA), ("aux", AUX)):
        (SEEDS / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (SEEDS / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
