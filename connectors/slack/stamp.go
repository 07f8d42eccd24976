package slack

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// messageStamp is how Slack names a message within its conversation: seconds and millionths. It is a text and never a
// floating point number, which would lose the last digits and make two messages one. Stamps of the same length sort as
// they are written.
type messageStamp string

// stampTime is the moment of a stamp.
func (s messageStamp) stampTime() (time.Time, bool) {
	seconds, rest, dotted := strings.Cut(string(s), ".")
	whole, err := strconv.ParseUint(seconds, 10, 40)
	if err != nil || !dotted || len(rest) != 6 || len(seconds) != 10 {
		return time.Time{}, false
	}
	micros, err := strconv.ParseUint(rest, 10, 32)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(int64(whole), int64(micros)*1000).UTC(), true
}

// recordTimeLayout is a moment as records spell it.
const recordTimeLayout = "2006-01-02T15:04:05.000000Z"

// stampOfTime is the stamp of a moment.
func stampOfTime(t time.Time) messageStamp {
	return messageStamp(fmt.Sprintf("%010d.%06d", t.Unix(), t.Nanosecond()/1000))
}
