package runview

import (
	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// longestReason limits the length of a connector's text for a reason.
const longestReason = 200

// reasonText explains why something was not collected. It uses the protocol's text, or else the connector's text for
// a reason of its own. known is false if neither describes the reason.
func reasonText(m *manifest.Manifest, reason protocol.Reason, class string) (words string, known bool) {
	general := protocol.OwnerCopy("", "")
	if words = protocol.OwnerCopy(reason, class); words != general {
		return words, true
	}
	if m != nil && m.ReasonDisplayMessages[string(reason)] != "" {
		return text.Line(redact.New().Line(m.ReasonDisplayMessages[string(reason)], longestReason)), true
	}
	return general, false
}

// DescribeGap converts a gap to its owner-facing form.
func DescribeGap(m *manifest.Manifest, g store.Gap) api.Gap {
	return api.Gap{
		ID: g.ID, ConnectionID: g.ConnectionID, ConnectorID: g.ConnectorID, Stream: g.Stream, ParentStream: g.ParentStream,
		RecordKey: g.RecordKey,
		Reason:    string(g.Reason), Text: gapReasonText(m, g), Status: string(g.Status), Locator: []byte(g.Locator),
		LastError: []byte(g.LastError), Attempts: g.AttemptCount,
		LastAttempt: g.LastAttemptAt, NotBefore: g.NotBefore, DiscoveredRun: g.DiscoveredRun, LastRun: g.LastRun,
		RecoveredRun: g.RecoveredRun,
		LeaseRun:     g.LeaseRun, IgnoredWhy: g.IgnoredWhy, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
}

// gapReasonText is why a gap is there.
func gapReasonText(m *manifest.Manifest, g store.Gap) string {
	var last struct {
		Class string `json:"class"`
	}
	if len(g.LastError) > 0 && json.Unmarshal(g.LastError, &last) != nil {
		last.Class = ""
	}
	text, _ := reasonText(m, g.Reason, last.Class)
	return text
}
