// Package consoletest drives the console as its owner would: a real server, real
// connectors, a real browser.
package consoletest
