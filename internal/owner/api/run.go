package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Run is one run.
type Run struct {
	ID           string `json:"run_id"`
	ConnectionID string `json:"connection_id"`
	ConnectorID  string `json:"connector_id"`
	DisplayName  string `json:"display_name"` // of the connection
	Trigger      string `json:"trigger_kind"`
	// RecoveryOnly means that it only tries again what is missing.
	RecoveryOnly   bool       `json:"recovery_only"`
	Status         string     `json:"status" enum:"running,succeeded,failed,cancelled,abandoned,skipped"`
	RecordsEmitted int64      `json:"records_emitted"`
	StartedAt      time.Time  `json:"started_at"`
	CompletedAt    *time.Time `json:"completed_at"`
	// Failure is a safe sentence; empty unless it failed.
	Failure     string `json:"failure,omitempty"`
	FailureCode string `json:"failure_code,omitempty"` // the connector's, or else the runtime's
	// Reason is why the runtime ended it before it was complete.
	Reason string `json:"failure_reason,omitempty"`
	// KnownGaps is what the run reported as missing. Only a request for a single run returns it.
	KnownGaps json.RawMessage `json:"known_gaps,omitempty"`
	// Stderr is the end of what the connector of a failed run wrote to stderr, without
	// secrets; only of a single run.
	Stderr string `json:"stderr_tail,omitempty"`
	// Message is the last message of an active run about itself as a whole, such as why it waits. It is empty while
	// its streams make progress.
	Message string `json:"message,omitempty"`
	// Streams are those that the run has reported on.
	Streams []RunStream `json:"streams"`
	// GrantID names the only grant that asked for the run, and GrantName the app that holds it.
	GrantID   string `json:"grant_id,omitempty"`
	GrantName string `json:"grant_name,omitempty"` // only of a single run
}

// Stopped is what a connection no longer does.
type Stopped struct {
	RunID   string `json:"run_id,omitempty"`  // under way: it ends within moments
	Request bool   `json:"request_withdrawn"` // asked for, and not begun
}

// RunQuery picks runs. Empty members pick all; a limit of zero means 50.
type RunQuery struct {
	ConnectionID string `query:"connection_id"`          // only of this connection
	Status       string `query:"status"`                 // only with this status
	Limit        int    `query:"limit" maximum:"100000"` // 50 by default
}

// RunStream is how far a run has come with a stream. Nil is not known.
type RunStream struct {
	Name       string `json:"stream"`
	Label      string `json:"label"`
	Records    int64  `json:"records"`
	Considered *int64 `json:"considered"`
	// PerMinute is the pace of the last minutes, of a run under way.
	PerMinute *float64 `json:"records_per_minute"`
	// LeftLow and LeftHigh bound the remaining seconds; nil when no estimate is possible.
	LeftLow  *int64 `json:"seconds_left_low"`
	LeftHigh *int64 `json:"seconds_left_high"`
	Message  string `json:"message,omitempty"`
}

// Event is an entry of a run's timeline.
type Event struct {
	Seq    int64           `json:"event_seq"`
	Type   string          `json:"event_type"`
	At     time.Time       `json:"occurred_at"`
	Stream string          `json:"stream,omitempty"`
	Text   string          `json:"text"` // a sentence for people
	Data   json.RawMessage `json:"data,omitempty" schema:"object" nullable:"true"`
}

// Question is what a run waits for.
type Question struct {
	RunID     string          `json:"run_id"`
	RequestID string          `json:"interaction_id"`
	Kind      string          `json:"kind"`
	Message   string          `json:"message"`
	Fields    []QuestionField `json:"fields"`
	ExpiresAt *time.Time      `json:"expires_at"`
	// Page is the path of the console's page on which the owner does what is asked, in the
	// run's own browser; empty where there is none.
	Page string `json:"page,omitempty"`
}

// SignInPage is the path of the console's page on which the owner acts in the browser of a
// connection's run.
func SignInPage(connectionID string) string {
	return "/sources/" + url.PathEscape(connectionID) + "/page"
}

// QuestionField is one input of a question.
type QuestionField struct {
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Type     string   `json:"type"` // string, boolean (answered by yes or no), integer or number
	Secret   bool     `json:"secret"`
	Required bool     `json:"required"`
	Options  []string `json:"options,omitempty"`
}

// Answer answers a question. Status is success or cancelled.
type Answer struct {
	RequestID string            `json:"interaction_id"`
	Status    string            `json:"status" enum:"success,cancelled"`
	Data      map[string]string `json:"data,omitempty"`
}

// check rejects an answer without a known status.
func (a *Answer) check() error {
	if a.Status != "success" && a.Status != "cancelled" {
		return &Error{Status: http.StatusBadRequest, Code: "invalid_status", Param: "status",
			Message: "An answer has the status success or cancelled.", Next: "Send one of the two."}
	}
	return nil
}

// Pace is how fast a connection collected. What was never measured is nil, not zero.
type Pace struct {
	ConnectionID     string    `json:"connection_id"`
	ConnectorID      string    `json:"connector_id"`
	CurrentPerMinute *float64  `json:"rate_per_min"`         // of the newest run with a rate
	CeilingPerMinute *float64  `json:"ceiling_rate_per_min"` // which that run never passes
	Live             bool      `json:"live"`                 // that run is still going on
	Learned          *Learned  `json:"learned"`              // what the next run would start from
	Shared           *Sharers  `json:"shared_by"`            // nil when no other connection draws on the same allowance
	Examined         int       `json:"runs_examined"`        // how many runs were looked at for a rate
	Runs             []RunPace `json:"runs"`                 // those with a rate, the oldest first
}

// Sharers are how many connections draw on one allowance of a provider, this one included, and how many of their runs
// do so now.
type Sharers struct {
	Connections int `json:"connections"`
	Runs        int `json:"runs"`
}

// PaceRuns is how many runs a Pace has at the most.
const PaceRuns = 20

// Learned is what runs have found out about a provider, as a bookmark carries it.
// A limit that is nil was not met: the provider has never refused.
type Learned struct {
	Stream        string    `json:"stream"` // the stream of the bookmark that holds it
	RecordedAt    time.Time `json:"recorded_at"`
	Fresh         bool      `json:"fresh"` // the next run would start from it
	IntervalMS    float64   `json:"interval_ms"`
	LimitPerMin   *float64  `json:"limit_per_min"`
	RefusedPerMin *float64  `json:"refused_per_min"`
	Sweep         *float64  `json:"sweep"`
	PauseMS       *float64  `json:"pause_ms"`
	CostMS        *float64  `json:"cost_ms"`
}

// RunPace is the pace of one run over its time, thinned out when it was long.
type RunPace struct {
	RunID            string      `json:"run_id"`
	Status           string      `json:"status"`
	StartedAt        time.Time   `json:"started_at"`
	CompletedAt      *time.Time  `json:"completed_at"`
	CeilingPerMinute *float64    `json:"ceiling_rate_per_min"`
	Observed         int64       `json:"observed"` // rates that the connector reported
	Points           []PacePoint `json:"points"`
	Backoffs         []Backoff   `json:"backoffs"`
}

// PacePoint is the pace at a moment.
type PacePoint struct {
	At        time.Time `json:"at"`
	PerMinute float64   `json:"rate_per_min"`
}

// Backoff is a moment at which the source asked for a slower pace, and the pace that
// followed. Paused means that it named the wait itself.
type Backoff struct {
	At        time.Time `json:"at"`
	PerMinute float64   `json:"rate_per_min"` // the rate after it
	Paused    bool      `json:"paused"`
	Reason    string    `json:"reason"`
}
