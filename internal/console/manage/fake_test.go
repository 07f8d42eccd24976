package manage

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pdpp/internal/ownerapi"
	"pdpp/internal/ownerview"
)

// owner is an owner of invented things. It keeps what it was asked to do.
type owner struct {
	ownerapi.Owner // a question that no page should ask stops the test

	overview   ownerview.Overview
	details    map[string]ownerapi.Detail
	connectors []ownerapi.Connector
	streams    []ownerapi.Stream
	records    ownerapi.RecordPage
	record     ownerapi.Record
	earlier    []ownerapi.Record
	grants     []ownerapi.Grant
	request    ownerapi.GrantRequest
	devices    []ownerapi.Device
	targets    []ownerapi.PushTarget
	tokens     []ownerapi.Token
	sessions   []ownerapi.Session
	passkeys   []ownerapi.Passkey
	codes      ownerapi.RecoveryCodes
	quiet      string
	trail      ownerapi.AuditPage
	trailOf    ownerapi.AuditQuery
	exported   string

	fails    map[string]error // by method
	asked    []string         // what was done, in order
	connect  ownerapi.Connect
	query    ownerapi.RecordQuery
	search   ownerapi.SearchQuery
	opened   [3]string
	schedule ownerapi.Schedule
	limits   map[string]ownerapi.Limits
	grant    ownerapi.NewGrant
	decision ownerapi.Decision
	target   ownerapi.NewPushTarget
	password ownerapi.NewPassword
	token    ownerapi.NewToken
	stale    bool // the owner has not shown lately that it is them
}

func (o *owner) did(what string) error {
	o.asked = append(o.asked, what)
	method, _, _ := strings.Cut(what, " ")
	return o.fails[method]
}

func (o *owner) Overview(context.Context) (ownerview.Overview, error) {
	return o.overview, o.fails["Overview"]
}

func (o *owner) Connection(_ context.Context, id string) (ownerapi.Detail, error) {
	d, found := o.details[id]
	if !found {
		return d, ownerapi.NotFound("There is no such connection.", "")
	}
	return d, nil
}

func (o *owner) Pace(context.Context, string) (ownerapi.Pace, error) {
	pace := 75.4
	return ownerapi.Pace{CurrentPerMinute: &pace}, nil
}
func (o *owner) Audit(_ context.Context, q ownerapi.AuditQuery) (ownerapi.AuditPage, error) {
	o.trailOf = q
	return o.trail, o.fails["Audit"]
}

func (o *owner) SetAuditRetention(_ context.Context, days int) error {
	return o.did(fmt.Sprint("SetAuditRetention ", days))
}

func (o *owner) Devices(context.Context) ([]ownerapi.Device, error) { return o.devices, nil }
func (o *owner) Connectors(context.Context) ([]ownerapi.Connector, error) {
	return o.connectors, o.fails["Connectors"]
}

func (o *owner) Connect(_ context.Context, c ownerapi.Connect) (ownerapi.Detail, error) {
	o.connect = c
	return ownerapi.Detail{Connection: ownerview.Connection{ID: "cin_kelp_2"}}, o.did("Connect " + c.ConnectorID)
}

func (o *owner) SetSchedule(_ context.Context, id string, s ownerapi.Schedule) error {
	o.schedule = s
	return o.did("SetSchedule " + id)
}

func (o *owner) SetLimits(_ context.Context, id string, l ownerapi.Limits) error {
	if o.limits == nil {
		o.limits = map[string]ownerapi.Limits{}
	}
	o.limits[id] = l
	return o.did("SetLimits " + id)
}

func (o *owner) Streams(context.Context, string) ([]ownerapi.Stream, error) {
	return slices.Clone(o.streams), o.fails["Streams"]
}

func (o *owner) Records(_ context.Context, q ownerapi.RecordQuery) (ownerapi.RecordPage, error) {
	o.query = q
	return o.records, o.fails["Records"]
}

func (o *owner) Search(_ context.Context, q ownerapi.SearchQuery) (ownerapi.RecordPage, error) {
	o.search = q
	return o.records, o.fails["Search"]
}

func (o *owner) Record(_ context.Context, c, s, k string) (ownerapi.Record, []ownerapi.Record, error) {
	o.opened = [3]string{c, s, k}
	return o.record, o.earlier, o.fails["Record"]
}

func (o *owner) Export(_ context.Context, w io.Writer, q ownerapi.ExportQuery) error {
	if o.exported != "" {
		if _, err := io.WriteString(w, o.exported); err != nil {
			return err
		}
	}
	return o.did("Export " + q.ConnectionID + " " + q.Stream + " " + q.Format)
}
func (o *owner) Grants(context.Context) ([]ownerapi.Grant, error) { return o.grants, nil }
func (o *owner) Grant(_ context.Context, id string) (ownerapi.Grant, error) {
	for _, g := range o.grants {
		if g.ID == id {
			return g, nil
		}
	}
	return ownerapi.Grant{}, ownerapi.NotFound("There is no such grant.", "Look at the list.")
}

func (o *owner) CreateGrant(_ context.Context, g ownerapi.NewGrant) (ownerapi.Grant, string, error) {
	o.grant = g
	return ownerapi.Grant{ID: "grt_9", ClientName: g.ClientName, Purpose: g.Purpose, Mode: g.Mode, Streams: g.Streams, Status: "active", CreatedAt: now, ExpiresAt: g.ExpiresAt},
		"pdpp_gt_" + "shownonce", o.did("CreateGrant " + g.ClientName)
}
func (o *owner) RevokeGrant(_ context.Context, id string) error { return o.did("RevokeGrant " + id) }
func (o *owner) GrantRequest(context.Context, string) (ownerapi.GrantRequest, error) {
	return o.request, o.fails["GrantRequest"]
}

func (o *owner) Decide(_ context.Context, id string, d ownerapi.Decision) (string, error) {
	o.decision = d
	if d.Approve {
		return "https://journal.tidewatch.example/back?code=c1&state=s1", o.did("Decide " + id + " yes")
	}
	return "https://journal.tidewatch.example/back?error=access_denied", o.did("Decide " + id + " no")
}
func (o *owner) Tokens(context.Context) ([]ownerapi.Token, error) { return o.tokens, nil }
func (o *owner) CreateToken(_ context.Context, t ownerapi.NewToken) (ownerapi.Token, string, error) {
	o.token = t
	return ownerapi.Token{ID: "tok_1", Label: t.Label}, "pdpp_ot_" + "shownonce", o.did("CreateToken " + t.Label)
}
func (o *owner) Sessions(context.Context) ([]ownerapi.Session, error) { return o.sessions, nil }
func (o *owner) EndSession(_ context.Context, id string) error        { return o.did("EndSession " + id) }
func (o *owner) EndSessions(context.Context) error                    { return o.did("EndSessions") }
func (o *owner) Passkeys(context.Context) ([]ownerapi.Passkey, error) { return o.passkeys, nil }
func (o *owner) RemovePasskey(_ context.Context, id string) error {
	return o.did("RemovePasskey " + id)
}
func (o *owner) RecoveryCodes(context.Context) (ownerapi.RecoveryCodes, error) { return o.codes, nil }
func (o *owner) MakeRecoveryCodes(context.Context) ([]string, error) {
	return []string{"aaaa-bbbb-cccc-dddd"}, o.did("MakeRecoveryCodes")
}
func (o *owner) SetPassword(_ context.Context, p ownerapi.NewPassword) error {
	o.password = p
	return o.did("SetPassword")
}
func (o *owner) RevokeToken(_ context.Context, id string) error { return o.did("RevokeToken " + id) }
func (o *owner) PushTargets(context.Context) ([]ownerapi.PushTarget, error) {
	return o.targets, nil
}

func (o *owner) AddPushTarget(_ context.Context, t ownerapi.NewPushTarget) (ownerapi.PushTarget, error) {
	o.target = t
	return ownerapi.PushTarget{}, o.did("AddPushTarget " + t.Kind)
}

func (o *owner) DeletePushTarget(_ context.Context, id string) error {
	return o.did("DeletePushTarget " + id)
}
func (o *owner) TestPush(context.Context) error                  { return o.did("TestPush") }
func (o *owner) QuietHours(context.Context) (string, error)      { return o.quiet, nil }
func (o *owner) SetQuietHours(_ context.Context, w string) error { return o.did("SetQuietHours " + w) }
func (o *owner) Runtime(context.Context) (ownerapi.Runtime, error) {
	return ownerapi.Runtime{
		Version: "0.9.2", Database: "sqlite", Home: "/home/mara/.pdpp", VAPIDKey: "BKey", StartedAt: now.Add(-time.Hour),
		Workers: []ownerapi.Worker{{ID: "w1", Host: "harbor", Slots: 4, Running: 1, SeenAt: now, Alive: true}},
	}, nil
}
