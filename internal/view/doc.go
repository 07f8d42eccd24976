// Package view is the one road from evidence to what an owner sees.
//
// Judge is the only place that projects health and synthesizes a verdict. Every
// surface (the dashboard, a connection's page, the JSON, the command line, a
// push) gets its Connection from here and shows its verdict as it stands, so
// two surfaces cannot disagree about the same connection at the same moment.
//
// A View reads the clock exactly once per call, so that all connections of one
// answer are judged at the same moment.
package view
