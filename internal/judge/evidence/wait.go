package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// Wait says that a sender of the connection is not to send before a moment.
type Wait struct {
	Sender string              `json:"sender"` // which of the connector's senders
	Until  time.Time           `json:"until"`
	Reason protocol.WaitReason `json:"reason"`
	At     time.Time           `json:"at"` // when it was noted
}

// WaitInForce is the wait that ends last, of those that are not over; nil when
// nothing is known to be waited for. No run of the connection starts before it ends.
func (e *Evidence) WaitInForce(now time.Time) *Wait {
	var last *Wait
	for i := range e.Waits {
		if w := &e.Waits[i]; w.Until.After(now) && (last == nil || w.Until.After(last.Until)) {
			last = w
		}
	}
	return last
}
