package notify

import (
	"context"
	"net/http"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var pushUrgency = map[loudness]webpush.Urgency{highLoudness: webpush.UrgencyHigh, plainLoudness: webpush.UrgencyNormal,
	lowLoudness: webpush.UrgencyLow}

// webPush encrypts the message to the browser's keys. The topic makes a repeat replace a message that is not shown
// yet. The page uses the attention's id as tag, which replaces a shown one.
func (s *Sender) webPush(ctx context.Context, t store.PushTarget, m PushMessage, now time.Time) result {
	if s.Keys.Public == "" {
		return result{word: "no_vapid_keys", ours: true}
	}
	if CheckTarget(t) != nil {
		return result{word: "invalid_subscription", gone: true} // it cannot come from a browser
	}
	sent := false
	resp, err := webpush.SendNotificationWithContext(ctx, m.json(), &webpush.Subscription{
		Endpoint: t.Endpoint, Keys: webpush.Keys{Auth: t.Auth, P256dh: t.P256DH},
	}, &webpush.Options{
		HTTPClient: httpDoFunc(func(req *http.Request) (*http.Response, error) { sent = true; return s.client().Do(req) }),
		// The library writes mailto: itself.
		Subscriber: strings.TrimPrefix(s.Keys.subject(s.Base), "mailto:"),
		Topic:      m.collapseKey(), TTL: int(m.lifetime(now) / time.Second), Urgency: pushUrgency[m.loudness()],
		VAPIDPublicKey: s.Keys.Public, VAPIDPrivateKey: s.Keys.Private.Reveal(),
	})
	if err != nil && !sent {
		return result{word: "not_encrypted", ours: true}
	}
	r := responseResult(resp, err)
	r.gone = err == nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone)
	if r.gone {
		r.word, r.hopeless = "gone", true
	}
	return r
}

type httpDoFunc func(*http.Request) (*http.Response, error)

func (d httpDoFunc) Do(req *http.Request) (*http.Response, error) { return d(req) }
