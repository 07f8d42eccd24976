// Package verdict turns a connection's projection into the one judgement that console, command line, API and
// notifications show.
//
// Synthesize is pure and reads no clock: ages are relative to the observation time in its input. The pill shows how
// collection is doing, and the channel whether the owner is needed; no other code computes them. Signals that the
// system handles without the owner do not interrupt; they are listed in Detail.
//
// The rules are tables (toneTable, actionRules, channelTable), and the sentences are in sentences.go, so that each
// can be edited without the other.
package verdict
