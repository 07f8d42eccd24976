package bucket

import "time"

// SetResponseTimeout replaces the timeout for a silent server.
func SetResponseTimeout(b *Bucket, d time.Duration) { b.responseTimeout = d }
