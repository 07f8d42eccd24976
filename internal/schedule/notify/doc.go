// Package notify sends the owner's open required actions to the targets that the owner configured. It sends what is
// pending and decides nothing: the verdict's channel decided about notification when the record was opened.
//
// # How often one record is sent
//
// A process can die between sending and saving, so "exactly once" is impossible. A Sender first claims the record by
// a save, then sends, then saves the outcome. Other processes skip a claimed record. A claim that is not finished
// within claimTime belonged to a process that died, before or after sending; the record is then sent once more. If
// that claim is lost too, the Sender gives up. So after a crash the owner is notified at most twice and, unless there
// are two crashes, at least once. A repeat has the same id, which web push, ntfy and a careful webhook use to replace
// the first.
//
// If every target fails, sending is retried a bounded number of times with growing waits. One successful target is
// enough.
//
// # Contents of a notification
//
// The connection's name, the verdict's lines about what happened and what comes next, the action's text, kind and
// urgency, and a link. It contains no data and no credential.
package notify
