package notify

import (
	"context"
	"net/http"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

var pushUrgency = map[loudness]webpush.Urgency{loud: webpush.UrgencyHigh, plain: webpush.UrgencyNormal, soft: webpush.UrgencyLow}

// webPush encrypts the message to the browser's keys. The topic makes a repeat
// replace what the device has not shown yet; the page that shows it uses the
// attention's id as the tag, which does the same for what it has.
func (s *Sender) webPush(ctx context.Context, t store.PushTarget, m Message, now time.Time) result {
	if s.Keys.Public == "" {
		return result{word: "no_vapid_keys", ours: true}
	}
	if CheckTarget(t) != nil {
		return result{word: "invalid_subscription", gone: true} // it cannot have come from a browser
	}
	sent := false
	resp, err := webpush.SendNotificationWithContext(ctx, m.json(), &webpush.Subscription{
		Endpoint: t.Endpoint, Keys: webpush.Keys{Auth: t.Auth, P256dh: t.P256DH},
	}, &webpush.Options{
		HTTPClient: doer(func(req *http.Request) (*http.Response, error) { sent = true; return s.client().Do(req) }),
		// The library writes mailto: itself.
		Subscriber: strings.TrimPrefix(s.Keys.subject(s.Base), "mailto:"),
		Topic:      m.collapse(), TTL: int(m.lifetime(now) / time.Second), Urgency: pushUrgency[m.loudness()],
		VAPIDPublicKey: s.Keys.Public, VAPIDPrivateKey: s.Keys.Private.Reveal(),
	})
	if err != nil && !sent {
		return result{word: "not_encrypted", ours: true}
	}
	r := judgeAnswer(resp, err)
	r.gone = err == nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone)
	if r.gone {
		r.word, r.hopeless = "gone", true
	}
	return r
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }
