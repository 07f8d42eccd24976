package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/judge/evidence"
	"pdpp/internal/keep/store"
	"pdpp/protocol"
)

// Evidence reads a page in one snapshot. A statement that fails may leave its
// transaction unusable, so the page is then read anew: readers of a sound store
// pay nothing for it, and what comes out is of one moment either way. It is read
// without the family of that statement once that has failed twice: the first
// time the connection may have been lost, which says nothing about the family.
func (db *DB) Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error) {
	failures := make(map[int]int)
	for {
		p, failed, err := db.readEvidence(ctx, q, failures)
		if err == nil {
			return p.list, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read evidence: %w", ctx.Err())
		}
		if failed < 0 {
			return nil, fmt.Errorf("read evidence: %w", db.dialect.Classify(err))
		}
		failures[failed]++
	}
}

// family is a group of facts that is read together: all of it, or none.
type family struct {
	name       evidence.Family // empty when its absence shows by itself
	statements []statement
}

// statement reads one part of a family for a whole page.
type statement struct {
	text func(in *within) string
	read func(p *page, rows *sql.Rows) error
}

// families are all but the connections themselves, in the order of evidence.Families.
var families = []family{
	{evidence.FamilyManifest, []statement{{manifestsQuery, (*page).manifests}}},
	{evidence.FamilyRecords, []statement{{streamsQuery, (*page).streams}}},
	{"", []statement{{selectionsQuery, (*page).selections}}},
	{evidence.FamilyRuns, []statement{{endedRunsQuery, (*page).endedRuns}, {activeRunsQuery, (*page).activeRuns}}},
	{evidence.FamilySchedule, []statement{{schedulesQuery, (*page).schedules}, {backoffsQuery, (*page).backoffs}}},
	{"", []statement{{waitsQuery, (*page).waits}}},
	{evidence.FamilyCredential, []statement{{credentialsQuery, (*page).credentials}}},
	{evidence.FamilyProbes, []statement{{probesQuery, (*page).probes}}},
	{evidence.FamilyAttention, []statement{{attentionQuery, (*page).attention}}},
	{"", []statement{{openGapsQuery, (*page).openGaps}, {closedGapsQuery, (*page).closedGaps}}},
	{evidence.FamilyDevice, []statement{{deviceSourcesQuery, (*page).deviceSources}}},
	{"", []statement{{coverageStoresQuery, (*page).coverageStores}}},
}

// maxRoom bounds the room that is made before the size of a page is known.
const maxRoom = 10_000

// readEvidence reads a page without the families that have failed twice. When a
// family cannot be read it gives the number of that family, and -1 for anything else.
func (db *DB) readEvidence(ctx context.Context, q evidence.Query, failures map[int]int) (p *page, failed int, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return nil, -1, err
	}
	defer tx.Rollback()
	p = &page{known: &db.declarations, size: min(limitOr(q.Limit, 100), maxRoom)}
	if q.ConnectionIDs != nil {
		p.size = min(len(q.ConnectionIDs), maxRoom)
	}
	in, err := db.within(q)
	if err != nil {
		return nil, -1, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.each(ctx, tx, text, args, p.connections); err != nil || len(p.list) == 0 {
		return p, -1, err
	}
	if err := p.span(in); err != nil {
		return nil, -1, err
	}
	for i, f := range families {
		if f.name == evidence.FamilyManifest && p.declareKnown() {
			continue
		}
		if failures[i] > 1 {
			p.loseAll(f.name)
			continue
		}
		for _, s := range f.statements {
			text, args := in.start(s)
			if err := db.each(ctx, tx, text, args, func(rows *sql.Rows) error { return s.read(p, rows) }); err != nil {
				return nil, i, err
			}
		}
	}
	p.finish()
	return p, -1, nil
}

// each runs a query and hands over its rows.
func (db *DB) each(ctx context.Context, tx *sql.Tx, text string, args []any, read func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, db.dialect.Rebind(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return err
	}
	return rows.Err()
}

// page is a page of evidence in the making.
type page struct {
	list  []evidence.Evidence
	made  []made // what each manifest is, as list
	seats map[string]int
	size  int // how many connections there may be
	near  int // the seat that was asked for last
	known *declarations
}

// made names the manifest of a connection, and what it declares once that is known.
type made struct {
	of       generation
	declared *declaration
}

func (p *page) connections(rows *sql.Rows) error {
	var (
		e       evidence.Evidence
		of      generation
		created string
	)
	c := &e.Connection
	into := []any{&c.ID, &c.ConnectorID, &c.DisplayName, &c.Status, &c.SourceKind, &of.number, &created}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		var err error
		if c.CreatedAt, err = readStamp(created); err != nil {
			return err
		}
		of.connectorID = c.ConnectorID
		if p.list == nil {
			p.list, p.made = make([]evidence.Evidence, 0, p.size), make([]made, 0, p.size)
		}
		p.list = append(p.list, e)
		p.made = append(p.made, made{of: of})
	}
	p.seats = make(map[string]int, len(p.list))
	for i := range p.list {
		p.seats[p.list[i].Connection.ID] = i
	}
	return nil
}

// span narrows the statements that follow to the connections that there are.
func (p *page) span(in *within) (err error) {
	in.last = p.list[len(p.list)-1].Connection.ID
	if in.named == nil {
		return nil
	}
	ids := make([]string, len(p.list))
	for i := range p.list {
		ids[i] = p.list[i].Connection.ID
	}
	in.named, err = in.db.dialect.List(ids)
	return err
}

// seat finds a connection of the page. Rows mostly come in the page's own
// order, so the seat is nearly always the one of the row before or the next.
func (p *page) seat(id string) (int, bool) {
	for i := p.near; i < min(p.near+2, len(p.list)); i++ {
		if p.list[i].Connection.ID == id {
			p.near = i
			return i, true
		}
	}
	i, ok := p.seats[id]
	if ok {
		p.near = i
	}
	return i, ok
}

func (p *page) find(id string) (*evidence.Evidence, bool) {
	i, ok := p.seat(id)
	if !ok {
		return nil, false
	}
	return &p.list[i], true
}

// loseAll says that a family could not be read of any connection. What became of
// manifests shows in each connection.
func (p *page) loseAll(f evidence.Family) {
	if f == "" || f == evidence.FamilyManifest {
		return
	}
	for i := range p.list {
		lose(&p.list[i], f)
	}
}

// lose says that a family could not be read of one connection.
func lose(e *evidence.Evidence, f evidence.Family) {
	if !slices.Contains(e.Unreadable, f) {
		e.Unreadable = append(e.Unreadable, f)
	}
}

// finish adds what follows from several families.
func (p *page) finish() {
	for i := range p.list {
		e := &p.list[i]
		// A connection of generation 0 has no manifest yet: there is nothing to read.
		if p.made[i].declared == nil && p.made[i].of.number != 0 {
			lose(e, evidence.FamilyManifest)
		}
		if e.Device != nil && e.Connection.SourceKind == evidence.SourceLocalDevice && e.Records != nil {
			e.Device.LastIngestAt = e.Records.ChangedAt
		}
		if len(e.Unreadable) > 1 {
			slices.SortFunc(e.Unreadable, func(a, b evidence.Family) int {
				return slices.Index(evidence.Families, a) - slices.Index(evidence.Families, b)
			})
		}
	}
}

// stamps reads the times of one row and remembers whether one could not be read.
type stamps struct{ bad bool }

func (s *stamps) at(text string) time.Time {
	t, err := readStamp(text)
	s.bad = s.bad || err != nil
	return t
}

// maybe reads a time that may be absent.
func (s *stamps) maybe(text string) *time.Time {
	if text == "" {
		return nil
	}
	t := s.at(text)
	return &t
}

// measured is what a row says of a stream. A page has thousands of them, which
// are made many at a time.
type measured struct {
	retained int64
	fact     evidence.Fact
}

// factReader reads the facts of many streams. It takes members one by one,
// because decoding into a struct would cost more than reading the rows does.
type factReader struct {
	buffer  bytes.Buffer
	decoder *jsontext.Decoder
}

// read reads what a run measured; source is the time, status and id of that run,
// joined. It fails for facts that cannot be read. A count that is absent or null
// was not measured.
func (r *factReader) read(facts []byte, source string, f *evidence.Fact) bool {
	if len(source) < len(Layout) || !r.members(facts, f) {
		return false
	}
	at, err := readStamp(source[:len(Layout)])
	status, runID, _ := strings.Cut(source[len(Layout):], " ")
	f.RunID, f.RunStatus, f.At = runID, evidence.RunStatus(status), at
	return err == nil
}

func (r *factReader) members(facts []byte, f *evidence.Fact) bool {
	r.buffer = *bytes.NewBuffer(facts)
	if r.decoder == nil {
		r.decoder = jsontext.NewDecoder(&r.buffer, jsontext.AllowDuplicateNames(true))
	} else {
		r.decoder.Reset(&r.buffer, jsontext.AllowDuplicateNames(true))
	}
	if t, err := r.decoder.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for r.decoder.PeekKind() == '"' {
		name, err := r.decoder.ReadValue()
		if err != nil {
			return false
		}
		// The name is overwritten by the next read, so its place is taken first.
		keep := factMember(string(name))
		value, err := r.decoder.ReadValue()
		if err != nil || keep != nil && !keep(f, value) {
			return false
		}
	}
	t, err := r.decoder.ReadToken()
	return err == nil && t.Kind() == '}'
}

// factMember gives what is done with a member of the facts; nil for one that is not read.
func factMember(name string) func(*evidence.Fact, jsontext.Value) bool {
	switch name {
	case `"collected"`:
		return keepCollected
	case `"considered"`:
		return keepConsidered
	case `"covered"`:
		return keepCovered
	case `"checkpoint"`:
		return keepCheckpoint
	case `"skipped"`:
		return keepSkip
	default:
		return nil
	}
}

func keepCollected(f *evidence.Fact, v jsontext.Value) (ok bool) {
	f.Collected, ok = wholeNumber(v)
	return ok
}

func keepConsidered(f *evidence.Fact, v jsontext.Value) bool { return keepCount(&f.Considered, v) }

func keepCovered(f *evidence.Fact, v jsontext.Value) bool { return keepCount(&f.Covered, v) }

func keepCount(into **int64, v jsontext.Value) bool {
	if v.Kind() == 'n' {
		*into = nil
		return true
	}
	n, ok := wholeNumber(v)
	*into = &n
	return ok
}

func wholeNumber(v jsontext.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

func keepCheckpoint(f *evidence.Fact, v jsontext.Value) bool {
	switch string(v) {
	case `"committed"`:
		f.Checkpoint = evidence.CheckpointCommitted
	case `"withheld"`:
		f.Checkpoint = evidence.CheckpointWithheld
	default:
		return json.Unmarshal(v, &f.Checkpoint) == nil
	}
	return true
}

func keepSkip(f *evidence.Fact, v jsontext.Value) bool {
	if v.Kind() == 'n' {
		f.Skip = nil
		return true
	}
	return json.Unmarshal(v, &f.Skip) == nil
}

// within is the condition that a column names a connection of the page: one of
// those that were asked for, or one of the range that the page spans. The range
// includes revoked connections, which the page leaves out.
type within struct {
	db          *DB
	named       any // the list of those that were asked for; nil for a range
	after, last string
	args        []any
}

// start begins a statement and gives its text.
func (w *within) start(s statement) (text string, args []any) {
	w.args = nil
	text = s.text(w)
	return text, w.args
}

// page gives the condition for one occurrence of it in a statement and adds its arguments.
func (w *within) page(column string) string {
	if w.named != nil {
		w.args = append(w.args, w.named)
		return w.db.dialect.Among(column)
	}
	w.args = append(w.args, w.after, w.last)
	return column + ` > ? AND ` + column + ` <= ?`
}

// within begins with the connections that were asked for; what the page spans is
// known once it has been read.
func (db *DB) within(q evidence.Query) (*within, error) {
	w := &within{db: db, after: q.After}
	if q.ConnectionIDs == nil {
		return w, nil
	}
	var err error
	w.named, err = db.dialect.List(q.ConnectionIDs)
	return w, err
}

// connectionsQuery selects the page itself.
func (w *within) connectionsQuery(limit int) (text string, args []any) {
	const columns = `SELECT connection_id, connector_id, display_name, status, source_kind, manifest_generation, created_at FROM connections WHERE `
	if w.named != nil {
		return columns + w.db.dialect.Among("connection_id") + ` ORDER BY connection_id`, []any{w.named}
	}
	return columns + `connection_id > ? AND status <> 'revoked' ORDER BY connection_id LIMIT ?`, []any{w.after, limitOr(limit, 100)}
}

func manifestsQuery(in *within) string {
	return `SELECT connector_id, generation, body FROM connector_manifests
		WHERE (connector_id, generation) IN (SELECT connector_id, manifest_generation FROM connections WHERE ` + in.page("connection_id") + `)`
}

// A driver's cost is by the column, so statements with many rows join what is of
// fixed width, or has no spaces, into one; and what is mostly absent is NULL.

// streamsQuery joins count and time of change, and time, status and id of the
// run that the facts are of.
func streamsQuery(in *within) string {
	return `SELECT connection_id, name, live_records || ' ' || coalesce(changed_at, ''), facts_json,
			facts_at || facts_status || ' ' || facts_run_id
		FROM streams WHERE ` + in.page("connection_id") + ` ORDER BY connection_id, name`
}

// selectionsQuery finds what owners chose, where they did.
func selectionsQuery(in *within) string {
	return `SELECT c.connection_id, s.value FROM connections c JOIN settings s ON s.name = '` + store.SelectionSetting + `' || c.connection_id
		WHERE ` + in.page("c.connection_id")
}

// endedRunsQuery finds the newest ended run of each connection and, when that
// one did not succeed, when the newest one that did had ended. The conditions on
// status are those of the partial indexes. A device's run that was abandoned is left
// out: a closed lid is judged by heartbeats. So is one that took back what a device sent. The last columns say of a device's run that
// it measured nothing, and of one that did not succeed that a question of it was not answered.
func endedRunsQuery(in *within) string {
	return `SELECT c.connection_id, r.run_id, r.status, r.trigger_kind, r.recovery_only, r.started_at || coalesce(r.completed_at, ''),
			coalesce(r.records_committed, r.records_emitted), CASE WHEN r.records_committed IS NULL THEN r.checkpoint_summary_json END,
			r.gaps_recovered, r.collection_rate_json,
			nullif(r.failure_reason, ''), nullif(r.terminal_reason, ''), nullif(r.error, ''), r.connector_error_json,
			CASE WHEN r.status <> 'succeeded' THEN (SELECT s.completed_at FROM run_history s
				WHERE s.connection_id = c.connection_id AND s.status = 'succeeded' AND s.trigger_kind <> 'undo' ORDER BY s.run_no DESC LIMIT 1) END,
			r.trigger_kind = 'device' AND r.status = 'succeeded' AND r.facts_json IS NULL,
			r.status <> 'succeeded' AND EXISTS (SELECT 1 FROM interactions i WHERE i.run_id = r.run_id AND i.status IN ('cancelled', 'timeout'))
		FROM connections c JOIN run_history r ON r.run_no = (SELECT e.run_no FROM run_history e
			WHERE e.connection_id = c.connection_id AND e.status NOT IN ('running', 'skipped')
				AND NOT (e.trigger_kind = 'device' AND e.status = 'abandoned') AND e.trigger_kind <> 'undo' ORDER BY e.run_no DESC LIMIT 1)
		WHERE ` + in.page("c.connection_id")
}

// activeRunsQuery gives the runs that hold a lease and, without an id, those that
// were asked for. What a device does is told by its heartbeats, not by its run.
func activeRunsQuery(in *within) string {
	return `SELECT l.connection_id, l.run_id, r.started_at, coalesce(l.expires_at, '') FROM run_leases l JOIN run_history r ON r.run_no = l.run_no
		WHERE l.run_id IS NOT NULL AND r.trigger_kind NOT IN ('device', 'undo') AND ` + in.page("l.connection_id") + `
		UNION ALL SELECT connection_id, '', min(requested_at), '' FROM run_requests WHERE ` + in.page("connection_id") + ` GROUP BY connection_id`
}

func schedulesQuery(in *within) string {
	return `SELECT connection_id, enabled, interval_seconds, jitter_seconds, updated_at FROM connector_schedules WHERE ` + in.page("connection_id")
}

func backoffsQuery(in *within) string {
	return `SELECT connection_id, reason_class, consecutive_failures, observed_at, coalesce(next_attempt_at, '')
		FROM scheduler_backoffs WHERE ` + in.page("connection_id")
}

func credentialsQuery(in *within) string {
	return `SELECT connection_id, status, captured_at, coalesce(rejected_at, ''), rejection_reason,
		CASE WHEN renewable = 0 THEN coalesce(token_expires_at, '') ELSE '' END
		FROM connection_credentials WHERE ` + in.page("connection_id")
}

func probesQuery(in *within) string {
	return `SELECT connection_id, dimension, name, status, reason, observed_at, coalesce(expires_at, '')
		FROM readiness_probes WHERE ` + in.page("connection_id") + ` ORDER BY connection_id, dimension, name`
}

func attentionQuery(in *within) string {
	return `SELECT connection_id, request_id, run_id, kind, opened_at, coalesce(expires_at, '')
		FROM interactions WHERE closed_at IS NULL AND ` + in.page("connection_id") + ` ORDER BY opened_at, request_id`
}

func openGapsQuery(in *within) string {
	return `SELECT connection_id, stream, reason, count(*), max(attempt_count), coalesce(max(next_attempt_after), ''), coalesce(min(coalesce(next_attempt_after, '')), '')
		FROM connector_detail_gaps WHERE status IN ('pending', 'in_progress') AND ` + in.page("connection_id") + `
		GROUP BY connection_id, stream, reason ORDER BY connection_id, stream, reason`
}

// closedGapsQuery counts what pressure had deferred and was fetched later, and
// what nobody can fetch and the owner did not set aside.
func closedGapsQuery(in *within) string {
	return `SELECT connection_id, 'recovered', count(*) FROM connector_detail_gaps
			WHERE status = 'recovered' AND reason IN (` + pressureReasons + `) AND ` + in.page("connection_id") + ` GROUP BY connection_id
		UNION ALL SELECT connection_id, 'terminal', count(*) FROM connector_detail_gaps
			WHERE status = 'terminal' AND ignored_why = '' AND ` + in.page("connection_id") + ` GROUP BY connection_id`
}

// pressureReasons are the words of protocol.SourcePressureReasons as SQL.
var pressureReasons = func() string {
	quoted := make([]string, len(protocol.SourcePressureReasons))
	for i, r := range protocol.SourcePressureReasons {
		quoted[i] = `'` + string(r) + `'`
	}
	return strings.Join(quoted, ", ")
}()

func deviceSourcesQuery(in *within) string {
	return `SELECT s.connection_id, s.source_instance_id, d.display_name, d.status, s.status, coalesce(s.revoked_at, d.revoked_at, ''),
			coalesce(s.last_heartbeat_at, ''), s.last_heartbeat_status, s.records_pending, coalesce(s.outbox_diagnostics_json, ''), coalesce(d.doubled_at, '')
		FROM device_source_instances s JOIN device_exporters d ON d.device_id = s.device_id
		WHERE ` + in.page("s.connection_id") + ` ORDER BY s.created_at, s.source_instance_id`
}

// coverageStream is where collectors on devices account for the stores they know.
const coverageStream = "coverage_diagnostics"

func coverageStoresQuery(in *within) string {
	return `SELECT s.connection_id, r.record_key, r.data FROM streams s JOIN records r ON r.stream_id = s.stream_id
		WHERE s.name = '` + coverageStream + `' AND r.data IS NOT NULL AND ` + in.page("s.connection_id") + ` ORDER BY s.connection_id, r.record_key`
}

// ReadEvidenceBare runs the statements of a page whose manifests are known,
// takes every column of every row from the driver, and builds nothing of it. It
// is the floor that the speed of Evidence is measured against.
func (db *DB) ReadEvidenceBare(ctx context.Context, q evidence.Query) (rows int, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return 0, db.dialect.Classify(err)
	}
	defer tx.Rollback()
	var last string
	take := func(r *sql.Rows) error {
		columns, err := r.Columns()
		if err != nil {
			return err
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for r.Next() {
			if err := r.Scan(into...); err != nil {
				return err
			}
			rows++
		}
		last, _ = values[0].(string)
		return nil
	}
	in, err := db.within(q)
	if err != nil {
		return 0, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.each(ctx, tx, text, args, take); err != nil || rows == 0 {
		return rows, db.dialect.Classify(err)
	}
	in.last = last
	for _, f := range families {
		for _, s := range f.statements {
			if f.name == evidence.FamilyManifest {
				continue
			}
			text, args := in.start(s)
			if err := db.each(ctx, tx, text, args, take); err != nil {
				return rows, db.dialect.Classify(err)
			}
		}
	}
	return rows, nil
}
