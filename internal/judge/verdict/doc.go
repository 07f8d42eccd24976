// Package verdict turns a connection's projection into the one judgement that
// every owner surface shows as it is: console, command line, API and push.
//
// Synthesize is pure. It reads no clock: ages come from the moment that the
// evidence was observed at, which is part of its input. The pill says how
// collection is, the channel says whether the owner is needed, and neither is
// computed anywhere else. What the system handles by itself is not shown to
// interrupt, and not dropped either: it is in Detail.
//
// The rules are tables (toneTable, actionRules, channelTable) and the sentences
// are in copy.go, so that each can be read and edited without the other.
package verdict
