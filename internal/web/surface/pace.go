package surface

import (
	"context"
	"time"
)

// perSecond is how many events of a viewer pass in a second. A hand needs fewer.
const perSecond = 200

// inputLimiter lets a burst of a second pass, and what comes faster wait.
type inputLimiter struct {
	room float64
	at   time.Time
}

func newInputLimiter() *inputLimiter { return &inputLimiter{room: perSecond, at: time.Now()} }

// wait returns when one more event may pass.
func (p *inputLimiter) wait(ctx context.Context) error {
	now := time.Now()
	p.room = min(perSecond, p.room+now.Sub(p.at).Seconds()*perSecond)
	p.at = now
	p.room--
	if p.room >= 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(-p.room / perSecond * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
