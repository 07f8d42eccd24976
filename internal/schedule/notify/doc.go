// Package notify tells the owner, where they want to be told, of what they are
// asked to do. It sends exactly what is pending and open, and decides nothing:
// whether something is worth a push was decided by the verdict's channel, when
// the record was opened.
//
// # How often one record is told
//
// Between the sending and the saving of it a process can die, so "exactly once"
// cannot be had. A Sender first claims the record by a save, then sends, then
// saves the outcome. Another process leaves a claimed record alone. A claim that
// is not settled within claimTime belonged to a process that died, perhaps
// before the sending and perhaps after it; the record is then sent once more.
// If that claim is lost too the Sender gives up. A crash therefore tells the
// owner at most twice and, unless it strikes twice, at least once. A repeat
// carries the same id, which web push, ntfy and a careful webhook collapse.
//
// When every target failed it is tried again after growing waits, a bounded
// number of times. One target that took it is enough.
//
// # What a push tells
//
// The connection's name, what happened and what next in the words of its verdict,
// the words of the action, its kind and urgency, and where to look. Nothing of the data, nothing of a credential.
package notify
