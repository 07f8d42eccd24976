// Package browsertest holds the tests of the shipped programs with a real browser. It has no
// code but tests.
package browsertest
