// Package view is the only path from evidence to what an owner sees.
//
// Only Judge projects health and synthesizes a verdict. The dashboard, a connection's page, JSON, the command line
// and notifications get their Connection from here and show its verdict unchanged. So they cannot disagree about a
// connection at one moment.
//
// A View reads the clock once per call, so that all connections of one answer are judged at the same time.
package view
