//go:build !unix

package service

import "time"

// spent reports false: this system does not report the processor time of finished child processes.
func spent() (time.Duration, bool) { return 0, false }
