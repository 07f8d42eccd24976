// Package ratesim measures a governor against providers with a hidden limit.
//
// It is a discrete-event simulation: time is a number, nothing sleeps and nothing runs concurrently. A day of
// collecting takes milliseconds, and equal seeds produce equal runs. The client is a real governor, driven as a
// sender drives it. An oracle that reads the limiter provides the ceiling for comparison.
package ratesim
