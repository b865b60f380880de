"""Database statements that break out of a value."""

from assistants.tools.guard.rules import Family, rule

SQL = Family.SQL

RULES = (
    rule("union of tables", SQL, "union", r"[\s(/*]{1,20}+(?:all[\s(/*]{1,20}+)?select\b"),
    rule(
        "second statement",
        SQL,
        ";",
        r"\s{0,20}+(?:select|insert|update|delete|drop|alter|create|truncate|exec|execute|grant|shutdown|merge|declare)\b",
    ),
    rule("table dropped", SQL, "drop¦truncate", r"\s{1,20}+(?:table|database|schema|index|view|user)\b"),
    rule("rows deleted", SQL, "delete from¦insert into", r"\s{1,20}+[\w.\"`\[]{1,80}"),
    rule(
        "condition that always holds",
        SQL,
        "'¦\"",
        r"\s{0,20}+\)?\s{0,20}+(?:or|and)\b\s{1,20}+['\"\d(][^=\n\0'\"]{0,20}['\"]?\s{0,4}(?:=|like\b|<|>)",
    ),
    rule("number that always equals itself", SQL, "or¦and", r"\s{1,20}+(\d{1,6})\s{0,4}=\s{0,4}\1\b"),
    rule("rest commented out", SQL, "'", r"\s{0,8}\)?\s{0,8};?\s{0,8}(?:--|#|/\*)"),
    rule("stored procedure", SQL, "xp_cmdshell¦sp_executesql¦xp_regread¦exec master"),
    rule("answer delayed", SQL, "waitfor delay¦pg_sleep¦benchmark¦sleep", r"\s{0,4}(?:\(\s{0,4}\d|'\d)"),
    rule("catalogue read", SQL, "information_schema¦sqlite_master¦pg_catalog¦sys.tables¦load_file(¦into outfile¦into dumpfile"),
)
