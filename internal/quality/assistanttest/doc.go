// Package assistanttest has no code but tests. It starts the demonstration as it is shipped, and lets programs that
// others wrote ask it over the Model Context Protocol.
package assistanttest
