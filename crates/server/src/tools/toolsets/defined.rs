//! Predefined toolsets. Some list tools that cdpilot itself does not have; these belong to the toolset once an MCP
//! server or an embedding program registers them.

/// The kind of a toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A group of related tools.
    Core,
    /// Several toolsets for one purpose.
    Composite,
    /// All tools of one entry point.
    Platform,
}

/// A toolset that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defined {
    /// Name of the toolset, by which settings enable it.
    pub name: &'static str,
    /// Whether it has tools of its own, combines others, or belongs to an entry point.
    pub kind: Kind,
    /// What its tools are for; shown to people, not to models.
    pub description: &'static str,
    /// Names of the tools that it has beside those of included toolsets.
    pub tools: &'static [&'static str],
    /// Names of the toolsets that it includes.
    pub includes: &'static [&'static str],
}

const fn core(name: &'static str, description: &'static str, tools: &'static [&'static str]) -> Defined {
    Defined { name, kind: Kind::Core, description, tools, includes: &[] }
}

const fn composite(
    name: &'static str,
    description: &'static str,
    tools: &'static [&'static str],
    includes: &'static [&'static str],
) -> Defined {
    Defined { name, kind: Kind::Composite, description, tools, includes }
}

const fn platform(name: &'static str, description: &'static str, includes: &'static [&'static str]) -> Defined {
    Defined { name, kind: Kind::Platform, description, tools: &[], includes }
}

/// Tools of interactive entry points.
const EVERYTHING: &[&str] = &[
    "browser",
    "clarify",
    "code_execution",
    "cronjob",
    "delegation",
    "file",
    "homeassistant",
    "image_gen",
    "memory",
    "messaging",
    "session_search",
    "skills",
    "terminal",
    "todo",
    "tts",
    "vision",
    "web",
];

/// Tools for editors.
const CODING: &[&str] = &[
    "browser",
    "code_execution",
    "delegation",
    "file",
    "memory",
    "session_search",
    "skills",
    "terminal",
    "todo",
    "vision",
    "web",
];

/// Tools that need no user.
const UNATTENDED: &[&str] = &[
    "browser",
    "code_execution",
    "cronjob",
    "delegation",
    "file",
    "homeassistant",
    "image_gen",
    "memory",
    "session_search",
    "skills",
    "terminal",
    "todo",
    "vision",
    "web",
];

/// Messengers; each has the tools of the command line.
pub(super) const MESSENGERS: &[&str] = &[
    "cdpilot-telegram",
    "cdpilot-discord",
    "cdpilot-slack",
    "cdpilot-whatsapp",
    "cdpilot-signal",
    "cdpilot-matrix",
    "cdpilot-mattermost",
    "cdpilot-email",
    "cdpilot-sms",
    "cdpilot-bluebubbles",
    "cdpilot-dingtalk",
    "cdpilot-feishu",
    "cdpilot-qqbot",
    "cdpilot-wecom",
    "cdpilot-wecom-callback",
    "cdpilot-weixin",
    "cdpilot-homeassistant",
    "cdpilot-webhook",
];

const fn messenger(name: &'static str) -> Defined {
    platform(name, "Default for messages from there: the same as cdpilot-cli.", EVERYTHING)
}

/// All predefined toolsets, by name within each kind.
pub const DEFINED: &[Defined] = &[
    core(
        "browser",
        "Drive a browser: pages, tabs, frames, dialogs; and search the web.",
        &[
            "browser_back",
            "browser_cdp",
            "browser_click",
            "browser_console",
            "browser_dialog",
            "browser_drag",
            "browser_evaluate",
            "browser_fill",
            "browser_get_images",
            "browser_hover",
            "browser_navigate",
            "browser_press",
            "browser_screenshot",
            "browser_scroll",
            "browser_select",
            "browser_snapshot",
            "browser_tabs",
            "browser_type",
            "browser_upload",
            "browser_vision",
            "browser_wait",
            "web_search",
        ],
    ),
    core("clarify", "Ask the user a question, or for help.", &["clarify", "please_help_me"]),
    core("code_execution", "Run scripts that call tools.", &["execute_code"]),
    core("cronjob", "Run tasks on a schedule.", &["cronjob"]),
    core("delegation", "Delegate a part of the task to another agent.", &["delegate_task"]),
    core("feishu_doc", "Read Feishu documents.", &["feishu_doc_read"]),
    core(
        "feishu_drive",
        "Read and write comments in Feishu Drive.",
        &[
            "feishu_drive_add_comment",
            "feishu_drive_list_comment_replies",
            "feishu_drive_list_comments",
            "feishu_drive_reply_comment",
        ],
    ),
    core(
        "file",
        "Read, write, patch and search files of the workspace.",
        &["patch", "read_file", "search_files", "write_file"],
    ),
    core(
        "homeassistant",
        "Control a smart home (Home Assistant).",
        &["ha_call_service", "ha_get_state", "ha_list_entities", "ha_list_services"],
    ),
    core("image_gen", "Generate images.", &["image_generate"]),
    core("memory", "Store facts for later sessions.", &["memory"]),
    core("messaging", "Send messages to other services.", &["send_message"]),
    core("moa", "Ask several models and merge their answers.", &["mixture_of_agents"]),
    core(
        "rl",
        "Train models by reinforcement learning.",
        &[
            "rl_check_status",
            "rl_edit_config",
            "rl_get_current_config",
            "rl_get_results",
            "rl_list_environments",
            "rl_list_runs",
            "rl_select_environment",
            "rl_start_training",
            "rl_stop_training",
            "rl_test_inference",
        ],
    ),
    core("search", "Search the web, without reading the results.", &["web_search"]),
    core("session_search", "Search past sessions.", &["session_search"]),
    core(
        "skills",
        "Read and write skills: instructions saved for later tasks.",
        &["skill_manage", "skill_view", "skills_list"],
    ),
    core("terminal", "Run shell commands and background processes.", &["process", "terminal"]),
    core("todo", "Keep a to-do list of the session.", &["todo"]),
    core("tts", "Convert text to speech.", &["text_to_speech"]),
    core("vision", "Ask a vision model about images.", &["vision_analyze"]),
    core(
        "visual",
        "See labelled elements in pictures and act on them by id, with a preview before each click.",
        &["dialog", "element_interaction", "highlight", "tab"],
    ),
    core("web", "Search the web, and read pages as text.", &["web_extract", "web_search"]),
    composite("debugging", "Files, a terminal and the web.", &[], &["file", "terminal", "web"]),
    composite(
        "safe",
        "Tools that change nothing: no files, no terminal, no code.",
        &[],
        &["image_gen", "vision", "web"],
    ),
    Defined {
        name: "cdpilot-mcp",
        kind: Kind::Platform,
        description: "Default of MCP clients: twelve browser tools, to read pages, click, type, take screenshots, and handle tabs, frames and dialogs.",
        tools: &[
            "browser_click",
            "browser_dialog",
            "browser_evaluate",
            "browser_fill",
            "browser_navigate",
            "browser_press",
            "browser_screenshot",
            "browser_select",
            "browser_snapshot",
            "browser_tabs",
            "browser_type",
            "browser_wait",
        ],
        includes: &[],
    },
    platform("cdpilot-cli", "Default of the command line: everything.", EVERYTHING),
    platform("cdpilot-acp", "Default of editors (Agent Client Protocol).", CODING),
    platform("cdpilot-api-server", "Default of programs, without a user to ask.", UNATTENDED),
    messenger("cdpilot-telegram"),
    messenger("cdpilot-discord"),
    messenger("cdpilot-slack"),
    messenger("cdpilot-whatsapp"),
    messenger("cdpilot-signal"),
    messenger("cdpilot-matrix"),
    messenger("cdpilot-mattermost"),
    messenger("cdpilot-email"),
    messenger("cdpilot-sms"),
    messenger("cdpilot-bluebubbles"),
    messenger("cdpilot-dingtalk"),
    messenger("cdpilot-feishu"),
    messenger("cdpilot-qqbot"),
    messenger("cdpilot-wecom"),
    messenger("cdpilot-wecom-callback"),
    messenger("cdpilot-weixin"),
    messenger("cdpilot-homeassistant"),
    messenger("cdpilot-webhook"),
    platform("cdpilot-gateway", "All tools of all messengers.", MESSENGERS),
];

/// The predefined toolset of a name.
pub(super) fn defined(name: &str) -> Option<&'static Defined> {
    DEFINED.iter().find(|defined| defined.name == name)
}
