// Package webhooks delivers changes of records to addresses that the owner chose.
//
// A delivery is a page of changes as a client reads it, so the limits of a grant hold. The cursor moves after the
// address accepted the delivery: a crash repeats a delivery and loses none. One process at a time delivers for a
// webhook, and each stream is delivered in order. No content is stored.
package webhooks
