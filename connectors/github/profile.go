package github

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// profile is the account itself. One request serves the profile, its daily
// figures, and the login that other requests need.
type profile struct {
	api     *api
	counted func(stream, route, member string, announced, counted int64)

	raw  jsontext.Value // nil until read
	day  string         // on which GitHub answered
	wire wireUser
}

// read asks once per run; a failure is not kept.
func (p *profile) read(ctx context.Context) error {
	if p.raw != nil {
		return nil
	}
	resp, err := p.api.get(ctx, "user", "", nil)
	if err != nil {
		return err
	}
	if err := decode(resp.Body, &p.wire); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	if p.wire.Login == "" || p.wire.ID == 0 {
		return connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	p.day, p.raw = dayOf(resp.Header), resp.Body
	return nil
}

// compare holds a number of the profile against what a walk listed, if this run has read the profile. GitHub does not
// promise that the number is exact.
func (p *profile) compare(stream, member string, announced *int64, listed int64) {
	if p.raw != nil && announced != nil {
		p.counted(stream, "GET user", member, *announced, listed)
	}
}

// dayOf is the day at GitHub, which is not misled by a wrong clock here.
func dayOf(h http.Header) string {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		at = time.Now()
	}
	return at.UTC().Format(time.DateOnly)
}

// login is the account's name as part of a path.
func (p *profile) login(ctx context.Context) (string, error) {
	if err := p.read(ctx); err != nil {
		return "", err
	}
	return url.PathEscape(p.wire.Login), nil
}

func (p *profile) user(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	if err := p.read(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	return connectorkit.Page{
		Records: []connectorkit.Record{connectorkit.Upsert(p.wire.record())},
		Next:    connectorkit.Cursor{"updated_at": p.wire.UpdatedAt},
	}, nil
}

// stats samples the account's figures, once a day.
func (p *profile) stats(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := p.read(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"observed_on": p.day}}
	if at["observed_on"] != p.day {
		page.Records = append(page.Records, connectorkit.Upsert(p.wire.stats(p.day)))
	}
	return page, nil
}
