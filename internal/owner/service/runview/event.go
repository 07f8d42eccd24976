package runview

import (
	"fmt"
	"math"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Types of events that more than one file reads.
const (
	eventProgress = "run.progress_reported"
	eventStored   = "run.batch_ingested"
)

// circuitOpen is the state of a breaker that lets no request through.
const circuitOpen protocol.CircuitState = "open"

// eventData is everything that a sentence about an event may need.
type eventData struct {
	Message        string                   `json:"message"`
	Count          *float64                 `json:"count"`
	Total          *float64                 `json:"total"`
	Records        int64                    `json:"records"`
	Gaps           int64                    `json:"gaps"`
	Mode           protocol.CursorMode      `json:"mode"`
	Status         protocol.ResponseStatus  `json:"status"`
	Reason         protocol.Reason          `json:"reason"`
	RecoveryOnly   bool                     `json:"recovery_only"`
	RecordsEmitted int64                    `json:"records_emitted"`
	FailureReason  runner.Reason            `json:"failure_reason"`
	FailureMessage string                   `json:"failure_message"`
	Budget         *protocol.ProviderBudget `json:"provider_budget"`
}

// DescribeEvent converts one event of a run to its owner-facing form.
func DescribeEvent(e store.Event, m *manifest.Manifest) api.Event {
	return api.Event{Seq: e.Seq, Type: e.Type, At: e.At, Stream: e.Stream, Text: eventText(e, m), Data: []byte(e.Data)}
}

// eventText describes an event in one plain sentence, with the labels of the manifest if there is one. It omits data
// that it cannot parse. For an unknown kind, the sentence only reports that something happened.
func eventText(e store.Event, m *manifest.Manifest) string {
	label := ""
	if e.Stream != "" {
		label = declaration.StreamLabel(declaration.DescribeStream(m, e.Stream), e.Stream)
	}
	var d eventData
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &d) != nil {
		d = eventData{}
	}
	switch e.Type {
	case "run.started":
		if d.RecoveryOnly {
			return "The run began, to try again what is missing."
		}
		return "The run began."
	case eventProgress:
		return progressText(d, label)
	case eventStored:
		return "Stored " + text.Count(d.Records, "record", "records") + "."
	case "run.detail_gap_recorded":
		return text.Count(d.Gaps, "item", "items") + " could not be fetched yet, and will be tried again."
	case "run.detail_gap_recovered":
		return "Fetched " + text.Count(d.Gaps, "item", "items") + " that had been missing."
	case "run.state_advanced":
		return totalText(label, "Progress saved.")
	case "run.detail_coverage_declared":
		return totalText(label, "Counted what the source holds.")
	case "run.stream_skipped":
		if line, known := reasonText(m, d.Reason, ""); known {
			return totalText(label, line)
		}
		return totalText(label, "Left out of this run.")
	case "run.completed":
		return "The run is complete: it collected " + text.Count(d.RecordsEmitted, "record", "records") + "."
	case "run.failed":
		if why := text.Sentence(d.FailureMessage); why != "" {
			return "The run failed: " + why
		}
		return "The run failed."
	case "run.cancelled":
		switch d.FailureReason {
		case runner.ReasonGrantExpired:
			return "The run was stopped, because the grant that it was made for has expired. What it had finished is kept."
		case runner.ReasonGrantRevoked:
			return "The run was stopped, because the grant that it was made for was revoked. What it had finished is kept."
		default:
			return "The run was stopped. What it had finished is kept."
		}
	case "run.abandoned":
		return "The process that made the run is gone. What it had finished is kept."
	default:
		return interactionText(e.Type, d)
	}
}

// interactionText is about what a run asks of the owner.
func interactionText(kind string, d eventData) string {
	switch kind {
	case "run.interaction_required":
		return "The run asks you something, and waits."
	case "run.interaction_completed":
		switch d.Status {
		case protocol.ResponseSuccess:
			return "The question was answered."
		case protocol.ResponseTimeout:
			return "The question was not answered in time."
		default:
			return "The question was refused."
		}
	case "run.assistance_requested":
		return "The run needs help from you."
	case "run.assistance_resolved":
		return "The run got the help that it needed."
	case "run.assistance_timed_out", "run.assistance_cancelled", "run.assistance_escalated":
		return "The run continues without the help that it asked for."
	default:
		return "The run reported something."
	}
}

// progressText prefers numbers to the connector's own words.
func progressText(d eventData, label string) string {
	switch {
	case d.Budget != nil && d.Budget.Circuit.State == circuitOpen:
		return "The source kept failing, so PDPP pauses for a while."
	case d.Budget != nil:
		return "The source is being tried again."
	case d.Count != nil && d.Total != nil && countable(*d.Count) && countable(*d.Total) && label != "":
		return fmt.Sprintf("%s: %s of %s.", label, text.Number(int64(*d.Count)),
			text.Number(int64(math.Max(*d.Count, *d.Total))))
	case d.Count != nil && countable(*d.Count) && label != "":
		return fmt.Sprintf("%s: %s so far.", label, text.Number(int64(*d.Count)))
	case text.Sentence(d.Message) != "":
		return text.Sentence(d.Message)
	default:
		return totalText(label, "At work.")
	}
}

// runProgress puts what a sentence is about before it.
func totalText(label, text string) string {
	if label == "" {
		return text
	}
	return label + ": " + text
}
