// Package mcp answers assistants over the Model Context Protocol: on standard input and output, and over HTTP at /mcp.
//
// Every tool reads through a Reader, which sends the request to the routes under /v1. The views, cursors, limits, usage
// counts and audit entries of those routes therefore apply to assistants as they do to any other client. The package
// never reads the database and never derives a verdict. What only an owner may know comes through the Owner interface.
package mcp
