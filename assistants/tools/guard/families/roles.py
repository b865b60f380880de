"""Text that pretends to be another voice: role markers, a chat template's tokens, a tool's own envelope."""

from assistants.tools.guard.rules import Family, Risk, rule

INJECTION = Family.INJECTION
VOICE = "system|assistant|developer|human"

RULES = (
    rule(
        "role marker",
        INJECTION,
        "system¦assistant¦developer¦human",
        rf"[ \t>*#_'\"`-]{{0,16}}(?:{VOICE})(?: (?:message|prompt|note|instruction|override)s?)?[*_ ]{{0,4}}:(?![:/])",
        from_line=16,
    ),
    rule(
        "role in brackets",
        INJECTION,
        "[system¦[assistant¦[developer¦[/system¦[/assistant",
        r"(?: (?:message|prompt|note|override|instructions?))?\s?\](?![(\[])",
        before=r"(?<![\w\])])",
    ),
    rule("chat template token", INJECTION, "<|", r"[a-z0-9_▁]{2,40}\|>"),
    rule(
        "chat template token (Gemma)",
        INJECTION,
        "<start_of_turn¦<end_of_turn",
        r">",
    ),
    rule(
        "role tag",
        INJECTION,
        "<system¦</system¦<assistant¦</assistant¦<developer¦</developer¦<human¦</human¦<instruction¦</instruction"
        "¦<instructions¦</instructions",
        r"(?:[-_ ](?:prompt|message|instructions?|reminder|role|note))?\s{0,4}/?>",
    ),
    rule(
        "tool envelope",
        INJECTION,
        "<tool_call¦</tool_call¦<tool_response¦</tool_response¦<tool_result¦</tool_result¦<function_call¦</function_call"
        "¦<function_result¦</function_result¦[tool_calls]¦[/tool_results]¦[tool_results]",
        r"(?:s?\s{0,4}>|(?<=\]))",
    ),
    rule("JSON role", INJECTION, '"system"¦"role"¦"instruction"¦"prompt"¦"system_prompt"', r"\s{0,40}:\s{0,40}[\"']"),
    rule("JSON role (single quotes)", INJECTION, "'system'¦'role'¦'instruction'¦'prompt'", r"\s{0,40}:\s{0,40}[\"']"),
    rule(
        "our own envelope",
        INJECTION,
        "--- end of the facts¦--- end of facts¦--- facts from the assistant",
    ),
    rule(
        "separator with a command",
        INJECTION,
        "\n----------¦\n==========¦\n**********¦\n##########¦\n__________¦\n~~~~~~~~~~",
        r"[-=*#_~]{0,80}+[\s*#>=-]{0,12}+(?:(?:new |updated |real )?(?:system|admin|developer)[ -]"
        r"(?:prompt|message|instructions?|override|note)\b|(?:new|updated|real) instructions?\b"
        r"|end of (?:the )?(?:input|context|data|user input|tool (?:output|result)|facts|search results?)\b"
        r"|instructions? (?:for|to) (?:the )?(?:assistant|ai|model)\b)",
    ),
    rule("instruction block", INJECTION, "[inst]¦[/inst]¦<<sys>>¦<</sys>>¦[sys]¦[/sys]", risk=Risk.MEDIUM),
    rule("instruction block (Alpaca)", INJECTION, "\n### instruction¦\n### instructions", r"\s{0,4}:", risk=Risk.MEDIUM),
    rule(
        "tool call as JSON",
        INJECTION,
        '"tool_calls"¦"function_call"¦"tool_call"',
        r"\s{0,8}:\s{0,8}[\[{]",
        risk=Risk.MEDIUM,
    ),
    rule(
        "tool call as JSON (name and arguments)",
        INJECTION,
        '"name"',
        r"\s{0,8}:\s{0,8}\"[\w.-]{1,60}\"\s{0,8},\s{0,8}\"(?:arguments|parameters|tool_input)\"\s{0,8}:\s{0,8}[{\"]",
        risk=Risk.MEDIUM,
    ),
)
