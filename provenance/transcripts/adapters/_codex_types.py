"""The types of record that Codex writes, as of 0.146, and what has been seen of later ones.

Guarantees: constants. A type that is in none of these sets is kept, and counted as unknown, so that
a new version of the agent is noticed. Source: the protocol and history crates of `openai/codex`.

Example:
    >>> "function_call" in RESPONSE_ITEMS, "hologram" in EVENTS
    (True, False)
"""

from __future__ import annotations

from typing import Final

__all__ = ["ANSWERED_CALLS", "EVENTS", "OUTPUTS", "RESPONSE_ITEMS", "UNANSWERED_CALLS", "WRAPPERS"]

# Outer types whose payload has no type of its own.
WRAPPERS: Final = frozenset(
    {
        "compacted",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "realtime_item",
        "retained_context",
        "security_risk_score",
        "session_meta",
        "token_usage_record",
        "turn_context",
        "world_state",
    }
)

# Calls that get an output record of their own.
ANSWERED_CALLS: Final = frozenset(
    {"custom_tool_call", "function_call", "local_shell_call", "tool_search_call"}
)
# The model's provider answers these inside the call.
UNANSWERED_CALLS: Final = frozenset({"image_generation_call", "web_search_call"})
OUTPUTS: Final = frozenset(
    {
        "custom_tool_call_output",
        "function_call_output",
        "mcp_tool_call_output",
        "tool_search_output",
    }
)

# Types of a `response_item`'s payload; before September 2025 they stood alone on their lines.
RESPONSE_ITEMS: Final = (
    ANSWERED_CALLS
    | UNANSWERED_CALLS
    | OUTPUTS
    | {
        "additional_tools",
        "agent_message",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "message",
        "reasoning",
    }
)

# Types of an `event_msg`'s payload. Few of them are kept in rollouts by default.
EVENTS: Final = frozenset(
    {
        "agent_message",
        "agent_message_content_delta",
        "agent_message_delta",
        "agent_reasoning",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content",
        "agent_reasoning_raw_content_delta",
        "agent_reasoning_section_break",
        "apply_patch_approval_request",
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_resume_begin",
        "collab_resume_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "context_compacted",
        "conversation_path",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "elicitation_request",
        "entered_review_mode",
        "environment_connected",
        "environment_disconnected",
        "error",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_end",
        "exec_command_output_delta",
        "exited_review_mode",
        "get_history_entry_response",
        "guardian_assessment",
        "guardian_warning",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "injected_message",
        "item_completed",
        "item_started",
        "list_custom_prompts_response",
        "list_skills_response",
        "mcp_list_tools_response",
        "mcp_startup_complete",
        "mcp_startup_update",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_end",
        "patch_apply_updated",
        "plan_delta",
        "plan_update",
        "raw_response_completed",
        "raw_response_item",
        "realtime_conversation_closed",
        "realtime_conversation_list_voices_response",
        "realtime_conversation_realtime",
        "realtime_conversation_sdp",
        "realtime_conversation_started",
        "reasoning_content_delta",
        "reasoning_raw_content_delta",
        "request_permissions",
        "request_user_input",
        "safety_buffering",
        "session_configured",
        "shutdown_complete",
        "skills_update_available",
        "stream_error",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "terminal_interaction",
        "thread_goal_cleared",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_queue_changed",
        "thread_rolled_back",
        "thread_settings_applied",
        "token_count",
        "turn_aborted",
        "turn_complete",
        "turn_diff",
        "turn_moderation_metadata",
        "turn_started",
        "undo_completed",
        "undo_started",
        "user_message",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
