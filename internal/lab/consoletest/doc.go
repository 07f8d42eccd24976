// Package consoletest holds the tests of the console in a real browser. It has no code but tests.
package consoletest
