//! MCP over standard input and output, pipes and child processes.
