package settings

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const codeNoTarget = "no_push_target"

// PushTargets lists where pushes go.
func (a *Settings) PushTargets(ctx context.Context) ([]api.PushTarget, error) {
	all, err := a.Store.Targets(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the push targets")
	}
	out := make([]api.PushTarget, len(all))
	for i, t := range all {
		out[i] = showTarget(t)
	}
	return out, nil
}

// showTarget reveals only the host of the address, because the full address is enough to send pushes.
func showTarget(t store.PushTarget) api.PushTarget {
	out := api.PushTarget{
		ID: t.ID, Kind: string(t.Kind), Label: t.Label, CreatedAt: t.CreatedAt, LastSuccessAt: t.LastSuccessAt,
		LastFailure: t.LastFailure, RetiredAt: t.RetiredAt,
	}
	if u, err := url.Parse(t.Endpoint); err == nil {
		out.Host = u.Host
	}
	return out
}

// AddPushTarget adds a target for the owner's notifications.
func (a *Settings) AddPushTarget(ctx context.Context, n api.NewPushTarget) (api.PushTarget, error) {
	label := text.Line(n.Label)
	if label != "" && !api.IsName(label) {
		return api.PushTarget{}, api.Invalid("label", "The label is too long.", "Choose a shorter one.")
	}
	t := store.PushTarget{
		ID: "tgt_" + strings.ToLower(rand.Text()[:10]), Kind: store.TargetKind(n.Kind), Label: label, Endpoint: n.Endpoint,
		P256DH: n.P256DH, Auth: n.Auth, CreatedAt: a.Now(),
	}
	if err := notify.CheckTarget(t); err != nil {
		return api.PushTarget{}, faults.OwnerError(err, "check the push target")
	}
	if n.Secret != "" && t.Kind != store.TargetWebPush {
		key, err := a.Key()
		if err != nil {
			return api.PushTarget{}, faults.OwnerError(err, "load the key that seals secrets")
		}
		t.Sealed = notify.SealSecret(key, t.ID, credential.NewSecret(n.Secret))
	}
	err := a.Store.PutTarget(ctx, t)
	if errors.Is(err, store.ErrExists) {
		return api.PushTarget{}, &api.Error{Status: http.StatusConflict, Code: "push_target_exists", Param: "endpoint",
			Err:     err,
			Message: "This address already receives notifications.", Next: "To change its secret, remove it and add it again."}
	}
	if err != nil {
		return api.PushTarget{}, faults.OwnerError(err, "keep the push target")
	}
	return showTarget(t), nil
}

// DeletePushTarget stops telling a place.
func (a *Settings) DeletePushTarget(ctx context.Context, id string) error {
	all, err := a.Store.Targets(ctx)
	if err != nil {
		return faults.OwnerError(err, "list the push targets")
	}
	if !slices.ContainsFunc(all, func(t store.PushTarget) bool { return t.ID == id }) {
		return api.NotFound("There is no such push target.", "Choose one of your push targets.")
	}
	return faults.OwnerError(a.Store.DeleteTarget(ctx, id), "remove the push target")
}

// TestPush sends a test to one target, or to every one in use when none is named.
func (a *Settings) TestPush(ctx context.Context, target string) ([]api.PushTest, error) {
	all, err := a.Store.Targets(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the push targets")
	}
	all = slices.DeleteFunc(all, func(t store.PushTarget) bool {
		return t.ID != target && (target != "" || t.RetiredAt != nil)
	})
	switch {
	case len(all) == 0 && target != "":
		return nil, &api.Error{Status: http.StatusNotFound, Code: codeNoTarget, Message: "There is no such push target.",
			Next: "Choose one of your push targets."}
	case len(all) == 0:
		return nil, &api.Error{Status: http.StatusNotFound, Code: codeNoTarget, Message: "There is no place to tell you.",
			Next: "Add one first."}
	}
	sender := &notify.Sender{Store: a.Store, HTTP: a.HTTP, Base: a.Base}
	if slices.ContainsFunc(all, func(t store.PushTarget) bool { return len(t.Sealed) > 0 }) {
		if sender.Key, err = a.Opening(); err != nil {
			return nil, faults.OwnerError(err, "load the key that seals secrets")
		}
	}
	if slices.ContainsFunc(all, func(t store.PushTarget) bool { return t.Kind == store.TargetWebPush }) {
		if sender.Keys, err = a.VAPID(ctx); err != nil {
			return nil, faults.OwnerError(err, "load the keys of web pushes")
		}
	}
	out := make([]api.PushTest, len(all))
	for i, t := range all {
		out[i] = api.PushTest{Target: t.ID, Label: targetName(t)}
		if err := sender.Try(ctx, t, a.Now()); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out[i].Error = testPushFailure(err)
		}
	}
	return out, nil
}

// testPushFailure explains why a target did not accept a test.
func testPushFailure(err error) *api.PushFailure {
	out := &api.PushFailure{Code: "push_failed", Message: "It did not take the test.",
		Next: "Check the address, and that it can be reached from the server."}
	var why *usererr.Error
	if errors.As(err, &why) {
		out.Code, out.Message, out.Next = why.Code, text.Sentence(why.Message), why.NextStep()
	}
	return out
}

func targetName(t store.PushTarget) string {
	if t.Label != "" {
		return t.Label
	}
	return showTarget(t).Host
}

// QuietHours returns the hours without notifications; empty means none.
func (a *Settings) QuietHours(ctx context.Context) (string, error) {
	quiet, err := notify.LoadQuiet(ctx, a.Store)
	if err != nil {
		return "", faults.OwnerError(err, "read the quiet hours")
	}
	return quiet.String(), nil
}

// SetQuietHours keeps the window; empty ends it.
func (a *Settings) SetQuietHours(ctx context.Context, window string) error {
	quiet, err := notify.ParseQuiet(window)
	if err != nil {
		return faults.OwnerError(err, "read the quiet hours")
	}
	return faults.OwnerError(notify.SaveQuiet(ctx, a.Store, quiet, a.Now()), "keep the quiet hours")
}
