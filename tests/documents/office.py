"""Office files for tests, as small as their programs would accept them, and bombs made of them."""

import struct
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{}</Types>'
)

TITLE = '<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>'


def packed(parts: dict[str, str | bytes]) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def relation(number: int, kind: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'


def docx(*paragraphs: str, document: str = "", title: str = "") -> bytes:
    body = f'<w:p><w:pPr><w:pStyle w:val="Titel"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>' if title else ""
    body += "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    return packed(
        {
            "[Content_Types].xml": TYPES.format(""),
            "_rels/.rels": RELATIONS.format(relation(1, "officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": RELATIONS.format(relation(1, "styles", "styles.xml")),
            "word/styles.xml": f"<w:styles {W}>{TITLE}</w:styles>",
            "word/document.xml": document or f"<w:document {W}><w:body>{body}</w:body></w:document>",
        }
    )


def xlsx(sheets: dict[str, str]) -> bytes:
    """Sheets by name, each as the XML of its rows."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>' for number, name in zip(numbers, sheets, strict=True)
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES.format(""),
        "_rels/.rels": RELATIONS.format(relation(1, "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": RELATIONS.format(
            "".join(relation(number, "worksheet", f"worksheets/sheet{number}.xml") for number in numbers)
        ),
    }
    for number, rows in zip(numbers, sheets.values(), strict=True):
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>"
    return packed(parts)


def row(number: int, *values: str) -> str:
    cells = "".join(
        f'<c r="{chr(65 + place)}{number}" t="inlineStr"><is><t>{value}</t></is></c>' for place, value in enumerate(values)
    )
    return f'<row r="{number}">{cells}</row>'


def pptx(*slides: tuple[str, str]) -> bytes:
    """Slides, each with its title and its text."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in numbers)
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": RELATIONS.format(
            "".join(relation(number, "slide", f"slides/slide{number}.xml") for number in numbers)
        ),
    }
    for number, (title, text) in zip(numbers, slides, strict=True):
        shapes = "".join(
            f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{said}</a:t></a:r></a:p></p:txBody></p:sp>"
            for place, said in (('<p:ph type="title"/>', title), ("", text))
        )
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {P} {A}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    return packed(parts)


def pdf(*pages: str, stream: bytes | None = None, filters: str = "") -> bytes:
    """Pages of one line each; or one page with this stream behind these filters."""
    streams = [f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode() for text in pages] if stream is None else [stream]
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, content in enumerate(streams):
        box = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {5 + 2 * place} 0 R >>".encode())
        head = f"<< /Length {len(content)} {filters} >>\nstream\n".encode()
        objects.append(head + content + b"\nendstream")
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + each + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return bytes(out + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode())


def stacked_pdf() -> bytes:
    """A page whose stream unpacks to 700 MB through three layers."""
    engine = zlib.compressobj(9)
    data = b"".join(engine.compress(b" " * (1 << 20)) for _ in range(700)) + engine.flush()
    for _ in range(2):
        data = zlib.compress(data, 9)
    return pdf(stream=data, filters="/Filter [/FlateDecode /FlateDecode /FlateDecode]")


def laughing_docx() -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{"".join(f"&l{n - 1};" for _ in range(10))}">' for n in range(1, 10))
    body = f"<w:document {W}><w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>"
    return docx(document=f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{entities}]>{body}')


def zip_bomb() -> bytes:
    """A document of 400 KB that unpacks to 400 MB."""
    return packed({"word/document.xml": b" " * (400 * 1024 * 1024)})


def lying_zip() -> bytes:
    """The same, of which its directory says that it is small."""
    data = bytearray(packed({"word/document.xml": b" " * (150 * 1024 * 1024)}))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", 100)
    return bytes(data)


def nested_zip() -> bytes:
    data = b"x" * (1 << 20)
    for depth in range(8):
        data = packed({f"{depth}.zip": data, f"copy{depth}.zip": data})
    return data


def large_sheet(rows: int, columns: int) -> bytes:
    cells = "".join("<c><v>7</v></c>" for _ in range(columns))
    return xlsx({"Big": f"<row>{cells}</row>" * rows})


def large_picture(side: int) -> bytes:
    """The head of a PNG of that many pixels each way."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    chunks = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + chunks
