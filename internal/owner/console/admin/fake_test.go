package admin

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	"github.com/pdpp-go/pdpp/internal/view"
)

// owner is an owner of invented things. It keeps what it was asked to do.
type owner struct {
	api.Owner // a question that no page should ask stops the test

	tests       []api.PushTest
	overview    view.Overview
	details     map[string]api.Detail
	connectors  []api.Connector
	streams     []api.Stream
	records     api.RecordPage
	record      api.Record
	earlier     []api.Record
	grants      []api.Grant
	request     api.GrantRequest
	devices     []api.Device
	deviceCodes []api.DeviceCode
	searches    []api.SavedSearch
	deletions   []api.Deletion
	ended       []api.EndedConnection
	targets     []api.PushTarget
	tokens      []api.Token
	sessions    []api.Session
	passkeys    []api.Passkey
	codes       api.RecoveryCodes
	quiet       string
	runtime     api.Runtime
	trail       api.AuditPage
	trailOf     api.AuditQuery
	exported    string
	gaps        api.GapPage
	gapsOf      api.GapQuery
	bookmarks   []api.Bookmark
	log         []api.BookmarkCommit
	preview     api.RewindPreview
	changes     []api.Record
	changesOf   []api.ChangeQuery
	aggregation api.Aggregation
	summed      []api.AggregateQuery
	kept        api.Kept
	storage     diskuse.Storage
	semantic    semantic.Search

	fails     map[string]error // by method
	asked     []string         // what was done, in order
	questions []string         // what was asked, in order
	connect   api.Connect
	query     api.RecordQuery
	search    api.SearchQuery
	opened    [3]string
	schedule  api.Schedule
	limits    map[string]api.Limits
	grant     api.NewGrant
	decision  api.Decision
	target    api.NewPushTarget
	password  api.NewPassword
	token     api.NewToken
	stale     bool // the owner has not shown lately that it is them
}

// heard records a question and returns the error configured for it.
func (o *owner) heard(question string) error {
	o.questions = append(o.questions, question)
	return o.fails[question]
}

func (o *owner) did(what string) error {
	o.asked = append(o.asked, what)
	method, _, _ := strings.Cut(what, " ")
	return o.fails[method]
}

func (o *owner) Overview(context.Context) (view.Overview, error) {
	return o.overview, o.heard("Overview")
}

func (o *owner) Connection(_ context.Context, id string) (api.Detail, error) {
	d, found := o.details[id]
	if !found {
		return d, api.NotFound("There is no such connection.", "")
	}
	return d, o.heard("Connection")
}

func (o *owner) Pace(context.Context, string, int) (api.Pace, error) {
	pace := 75.4
	return api.Pace{CurrentPerMinute: &pace}, o.heard("Pace")
}
func (o *owner) Audit(_ context.Context, q api.AuditQuery) (api.AuditPage, error) {
	o.trailOf = q
	return o.trail, o.heard("Audit")
}

func (o *owner) SetAuditRetention(_ context.Context, days int) error {
	return o.did(fmt.Sprint("SetAuditRetention ", days))
}

func (o *owner) DeviceCodes(context.Context) ([]api.DeviceCode, error) {
	return o.deviceCodes, o.heard("DeviceCodes")
}

func (o *owner) RenameDevice(_ context.Context, id, name string) error {
	return o.did("RenameDevice " + id + " " + name)
}

func (o *owner) RevokeDevice(_ context.Context, id string) error { return o.did("RevokeDevice " + id) }

func (o *owner) UndoDevice(_ context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	return api.DeviceUndone{Restored: 2, Deleted: 1}, o.did("UndoDevice " + id + " " + since.UTC().Format(time.RFC3339))
}

func (o *owner) Devices(context.Context) ([]api.Device, error) { return o.devices, o.heard("Devices") }
func (o *owner) Connectors(context.Context) ([]api.Connector, error) {
	return o.connectors, o.heard("Connectors")
}

func (o *owner) Connect(_ context.Context, c api.Connect) (api.Detail, error) {
	o.connect = c
	return api.Detail{Connection: view.Connection{ID: "cin_kelp_2"}}, o.did("Connect " + c.ConnectorID)
}

func (o *owner) SetSchedule(_ context.Context, id string, s api.Schedule) error {
	o.schedule = s
	return o.did("SetSchedule " + id)
}

func (o *owner) SetLimits(_ context.Context, id string, l api.Limits) error {
	if o.limits == nil {
		o.limits = map[string]api.Limits{}
	}
	o.limits[id] = l
	return o.did("SetLimits " + id)
}

func (o *owner) DeleteSchedule(_ context.Context, id string) error {
	return o.did("DeleteSchedule " + id)
}

func (o *owner) Gaps(_ context.Context, q api.GapQuery) (api.GapPage, error) {
	o.gapsOf = q
	return o.gaps, o.heard("Gaps")
}

func (o *owner) Gap(_ context.Context, id string) (api.Gap, error) {
	for _, g := range o.gaps.Gaps {
		if g.ID == id {
			return g, o.heard("Gap")
		}
	}
	return api.Gap{}, api.NotFound("There is no such gap.", "Look at the list.")
}

func (o *owner) RetryGap(_ context.Context, id string) (api.Gap, error) {
	return api.Gap{}, o.did("RetryGap " + id)
}

func (o *owner) IgnoreGap(_ context.Context, id, why string) (api.Gap, error) {
	if why == "" {
		return api.Gap{}, api.Invalid("reason", "Ignoring a gap needs a reason.", "Say why it may stay missing.")
	}
	return api.Gap{}, o.did("IgnoreGap " + id + " " + why)
}

func (o *owner) Bookmarks(context.Context, string) ([]api.Bookmark, error) {
	return o.bookmarks, o.heard("Bookmarks")
}

func (o *owner) BookmarkLog(_ context.Context, q api.BookmarkQuery) ([]api.BookmarkCommit, error) {
	return o.log, o.did(fmt.Sprintf("BookmarkLog %s %s %s", q.ConnectionID, q.Stream, q.Mode))
}

func (o *owner) PreviewRewind(_ context.Context, r api.Rewind) (api.RewindPreview, error) {
	return o.preview, o.did(fmt.Sprintf("PreviewRewind %+v", r))
}

func (o *owner) Rewind(_ context.Context, r api.Rewind) (api.BookmarkCommit, error) {
	return api.BookmarkCommit{}, o.did(fmt.Sprintf("Rewind %+v", r))
}

// Changes returns the matching entries of o.changes, as the store does.
func (o *owner) Changes(_ context.Context, q api.ChangeQuery) (out []api.Record, err error) {
	o.changesOf = append(o.changesOf, q)
	for _, r := range o.changes {
		if r.Stream == q.Stream && r.Seq > q.After && len(out) < q.Limit {
			out = append(out, r)
		}
	}
	return out, o.heard("Changes")
}

func (o *owner) Streams(context.Context, string) ([]api.Stream, error) {
	return slices.Clone(o.streams), o.heard("Streams")
}

func (o *owner) Records(_ context.Context, q api.RecordQuery) (api.RecordPage, error) {
	o.query = q
	return o.records, o.heard("Records")
}

func (o *owner) Search(_ context.Context, q api.SearchQuery) (api.RecordPage, error) {
	o.search = q
	return o.records, o.heard("Search")
}

func (o *owner) SemanticSearch(context.Context) (semantic.Search, error) {
	return o.semantic, o.heard("SemanticSearch")
}

func (o *owner) Kept(context.Context) (api.Kept, error) { return o.kept, o.heard("Kept") }

func (o *owner) Storage(context.Context) (diskuse.Storage, error) {
	return o.storage, o.heard("Storage")
}

func (o *owner) Aggregate(_ context.Context, q api.AggregateQuery) (api.Aggregation, error) {
	o.summed = append(o.summed, q)
	return o.aggregation, o.heard("Aggregate")
}

func (o *owner) CopyFile(_ context.Context, w io.Writer, sha256 string) error {
	if err := o.heard("CopyFile"); err != nil {
		return err
	}
	_, err := io.WriteString(w, "content of "+sha256)
	return err
}

func (o *owner) Record(_ context.Context, c, s, k string) (api.Record, []api.Record, error) {
	o.opened = [3]string{c, s, k}
	return o.record, o.earlier, o.heard("Record")
}

func (o *owner) Export(_ context.Context, w io.Writer, q api.ExportQuery) error {
	if o.exported != "" {
		if _, err := io.WriteString(w, o.exported); err != nil {
			return err
		}
	}
	return o.did("Export " + q.ConnectionID + " " + q.Stream + " " + q.Format)
}
func (o *owner) Grants(context.Context) ([]api.Grant, error) { return o.grants, o.heard("Grants") }
func (o *owner) Grant(_ context.Context, id string) (api.Grant, error) {
	for _, g := range o.grants {
		if g.ID == id {
			return g, o.heard("Grant")
		}
	}
	return api.Grant{}, api.NotFound("There is no such grant.", "Look at the list.")
}

func (o *owner) CreateGrant(_ context.Context, g api.NewGrant) (api.Grant, string, error) {
	o.grant = g
	return api.Grant{ID: "grt_9", ClientName: g.ClientName, Purpose: g.Purpose, Mode: g.Mode, Streams: g.Streams,
			Status: "active", CreatedAt: now, ExpiresAt: g.ExpiresAt},
		"pdpp_gt_" + "shownonce", o.did("CreateGrant " + g.ClientName)
}
func (o *owner) RevokeGrant(_ context.Context, id string) error { return o.did("RevokeGrant " + id) }
func (o *owner) GrantRequest(context.Context, string) (api.GrantRequest, error) {
	return o.request, o.heard("GrantRequest")
}

func (o *owner) Decide(_ context.Context, id string, d api.Decision) (string, error) {
	o.decision = d
	if d.Approve {
		return "https://journal.tidewatch.example/back?code=c1&state=s1", o.did("Decide " + id + " yes")
	}
	return "https://journal.tidewatch.example/back?error=access_denied", o.did("Decide " + id + " no")
}
func (o *owner) Tokens(context.Context) ([]api.Token, error) { return o.tokens, o.heard("Tokens") }
func (o *owner) CreateToken(_ context.Context, t api.NewToken) (api.Token, string, error) {
	o.token = t
	return api.Token{ID: "tok_1", Label: t.Label}, "pdpp_ot_" + "shownonce", o.did("CreateToken " + t.Label)
}
func (o *owner) Sessions(context.Context) ([]api.Session, error) {
	return o.sessions, o.heard("Sessions")
}
func (o *owner) EndSession(_ context.Context, id string) error { return o.did("EndSession " + id) }
func (o *owner) EndSessions(context.Context) error             { return o.did("EndSessions") }
func (o *owner) Passkeys(context.Context) ([]api.Passkey, error) {
	return o.passkeys, o.heard("Passkeys")
}
func (o *owner) RemovePasskey(_ context.Context, id string) error {
	return o.did("RemovePasskey " + id)
}
func (o *owner) RecoveryCodes(context.Context) (api.RecoveryCodes, error) {
	return o.codes, o.heard("RecoveryCodes")
}
func (o *owner) MakeRecoveryCodes(context.Context) ([]string, error) {
	return []string{"aaaa-bbbb-cccc-dddd"}, o.did("MakeRecoveryCodes")
}
func (o *owner) SetPassword(_ context.Context, p api.NewPassword) error {
	o.password = p
	return o.did("SetPassword")
}
func (o *owner) RevokeToken(_ context.Context, id string) error { return o.did("RevokeToken " + id) }
func (o *owner) SavedSearches(context.Context) ([]api.SavedSearch, error) {
	return o.searches, o.heard("SavedSearches")
}

func (o *owner) SaveSearch(_ context.Context, s api.NewSearch) (api.SavedSearch, error) {
	return api.SavedSearch{ID: "sea_2", Name: s.Name, Address: s.Address}, o.did("SaveSearch " + s.Name + " " + s.Address)
}

func (o *owner) RenameSearch(_ context.Context, id, name string) error {
	return o.did("RenameSearch " + id + " " + name)
}

func (o *owner) DeleteSearch(_ context.Context, id string) error {
	return o.did("DeleteSearch " + id)
}

func (o *owner) PushTargets(context.Context) ([]api.PushTarget, error) {
	return o.targets, o.heard("PushTargets")
}

func (o *owner) AddPushTarget(_ context.Context, t api.NewPushTarget) (api.PushTarget, error) {
	o.target = t
	return api.PushTarget{}, o.did("AddPushTarget " + t.Kind)
}

func (o *owner) DeletePushTarget(_ context.Context, id string) error {
	return o.did("DeletePushTarget " + id)
}
func (o *owner) TestPush(context.Context, string) ([]api.PushTest, error) {
	return o.tests, o.did("TestPush")
}
func (o *owner) QuietHours(context.Context) (string, error)      { return o.quiet, o.heard("QuietHours") }
func (o *owner) SetQuietHours(_ context.Context, w string) error { return o.did("SetQuietHours " + w) }
func (o *owner) Runtime(context.Context) (api.Runtime, error)    { return o.runtime, o.heard("Runtime") }

func (o *owner) Deletions(context.Context) ([]api.Deletion, error) {
	return o.deletions, o.heard("Deletions")
}

func (o *owner) EndedConnections(context.Context) ([]api.EndedConnection, error) {
	return o.ended, o.heard("EndedConnections")
}

func (o *owner) deletionOf(id string) api.Deletion {
	for _, d := range o.deletions {
		if d.ID == id {
			return d
		}
	}
	return api.Deletion{}
}

func (o *owner) DeletionByID(_ context.Context, id string) (api.Deletion, error) {
	if err := o.heard("DeletionByID"); err != nil {
		return api.Deletion{}, err
	}
	d := o.deletionOf(id)
	if d.ID == "" {
		return d, api.NotFound("There is no such deletion.", "Choose another.")
	}
	return d, nil
}

func (o *owner) PreviewDeletion(_ context.Context, r api.DeletionRequest) (api.Deletion, error) {
	if r.Since == "soon" {
		return api.Deletion{}, api.Invalid("since", "This is not a date or time.", "Write a date.")
	}
	return api.Deletion{Scope: r.Scope, State: "preview", What: o.deletions[0].What,
		Happened: "This would delete 3 records.", Notes: []string{"Backups still hold it."}}, o.heard("PreviewDeletion")
}

func (o *owner) Delete(_ context.Context, r api.DeletionRequest) (api.Deletion, error) {
	return api.Deletion{ID: "del_1", Happened: "Deleted 3 records."}, o.did(fmt.Sprintf("Delete %+v", r))
}

func (o *owner) UndoDeletion(_ context.Context, id string) (api.Deletion, error) {
	return api.Deletion{ID: id, Happened: "Restored 3 records."}, o.did("UndoDeletion " + id)
}

func (o *owner) PurgeDeletion(_ context.Context, id string) (api.Deletion, error) {
	return api.Deletion{ID: id, Happened: "Deleted for good: 3 records."}, o.did("PurgeDeletion " + id)
}

func (o *owner) CollectDeleted(_ context.Context, id string) (api.Deletion, error) {
	return api.Deletion{ID: id}, o.did("CollectDeleted " + id)
}
