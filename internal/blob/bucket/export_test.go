package bucket

import "time"

// SetPatience replaces how long a silent server is waited for.
func SetPatience(b *Bucket, d time.Duration) { b.patience = d }
