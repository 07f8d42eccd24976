package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// SenderWait is a time before which a sender of the connection must not send.
type SenderWait struct {
	Sender string              `json:"sender"` // which of the connector's senders
	Until  time.Time           `json:"until"`
	Reason protocol.WaitReason `json:"reason"`
	At     time.Time           `json:"at"` // when it was recorded
}

// ActiveWait returns the wait that ends last of those that are not over; nil when there is none. No run of the
// connection starts before it ends.
func (e *Evidence) ActiveWait(now time.Time) *SenderWait {
	var last *SenderWait
	for i := range e.Waits {
		if w := &e.Waits[i]; w.Until.After(now) && (last == nil || w.Until.After(last.Until)) {
			last = w
		}
	}
	return last
}
