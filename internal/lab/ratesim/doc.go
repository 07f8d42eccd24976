// Package ratesim measures a governor against providers whose limit is hidden.
//
// It is a discrete-event simulation: time is a number, nothing sleeps and nothing
// runs beside anything else, so a day of collecting takes milliseconds and the
// same seed gives the same run. The client is a real governor driven as a sender
// drives it. An oracle that reads the limiter gives the ceiling to compare with.
package ratesim
