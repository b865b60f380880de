"""Pieces of programs that start others, load foreign objects or run what they are given."""

from assistants.tools.guard.rules import Family, rule

CODE = Family.CODE

RULES = (
    rule("Python import at run time", CODE, "__import__¦importlib.import_module", r"\s{0,4}\("),
    rule(
        "Python starts a program",
        CODE,
        "os.system¦os.popen¦subprocess.",
        r"(?:(?:run|call|popen|check_output|check_call)?\s{0,4}\()",
    ),
    rule(
        "Python runs a text",
        CODE,
        "eval¦exec",
        r"\s{0,4}\(\s{0,4}(?:compile|input|open|request|base64|bytes|__|chr|codecs|urllib|\(|['\"])",
    ),
    rule("Python looks behind its objects", CODE, "__subclasses__¦__globals__¦__builtins__¦__mro__¦__class__.__base"),
    rule("object from foreign bytes", CODE, "pickle.load¦pickle.loads¦marshal.loads¦yaml.unsafe_load¦!!python/object"),
    rule(
        "JavaScript starts a program",
        CODE,
        "require('child_process¦require(\"child_process¦process.mainmodule¦child_process.exec",
    ),
    rule("JavaScript runs a text", CODE, "new function(¦settimeout(¦setinterval(", r"\s{0,4}['\"`]"),
    rule(
        ".NET starts a program",
        CODE,
        "process.start(¦system.reflection.assembly.load¦activator.createinstance(¦system.diagnostics.process",
    ),
    rule(
        "deserialisation gadget",
        CODE,
        'objectinputstream¦binaryformatter¦java.lang.runtime¦runtime.getruntime(¦typenamehandling.all¦"$type"¦ysoserial',
    ),
)
