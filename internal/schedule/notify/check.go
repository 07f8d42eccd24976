package notify

import (
	"crypto/ecdh"
	"net/netip"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// CheckTarget returns an error if a target can never work. The error does not contain the address, because whoever
// knows the address can send notifications.
func CheckTarget(t store.PushTarget) error {
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return usererr.New("push_target_invalid", "the address is not an http or https URL",
			"Give the whole address, with https:// in front.")
	}
	if u.User != nil {
		return usererr.New("push_target_invalid", "the address has a password in it",
			"Give the address without it, and the token as the target's secret.")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && mayReach(u.Hostname(), ip) != nil {
		return usererr.New("push_target_invalid", "the address is a link-local or special one, which no push is sent to",
			"Give the address of a machine, or its name.")
	}
	switch t.Kind {
	case store.TargetWebhook:
		return nil
	case store.TargetNtfy:
		if u.Path == "" || u.Path == "/" {
			return usererr.New("push_target_invalid", "the address names no topic",
				"Give the address of the topic, such as https://ntfy.sh/your-topic.")
		}
		return nil
	case store.TargetWebPush:
		return checkSubscription(t, u)
	default:
		return usererr.New("push_target_invalid", "the kind is unknown", "Use web_push, webhook or ntfy.")
	}
}

func checkSubscription(t store.PushTarget, u *url.URL) error {
	const next = "Subscribe again in the browser."
	if u.Scheme != "https" {
		return usererr.New("push_target_invalid", "the address of the push service is not https", next)
	}
	point, err := decodeBase64(t.P256DH)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	if err != nil {
		return usererr.New("push_target_invalid", "the browser's public key is not one of the curve P-256", next)
	}
	if auth, err := decodeBase64(t.Auth); err != nil || len(auth) != 16 {
		return usererr.New("push_target_invalid", "the browser's secret is not 16 bytes", next)
	}
	return nil
}
