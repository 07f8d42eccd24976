package server_test

import (
	"reflect"

	"github.com/pdpp-go/pdpp/internal/quality/openapi"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

var envelope = openapi.Schema{Name: "Error", Description: "Not done, and why.", Type: reflect.TypeFor[reply.Envelope]()}

// head is what the document has besides its operations and types.
var head = openapi.Head{
	Title: "PDPP",
	Description: "What an owner and the apps of an owner can ask a PDPP server for. Addresses under /_ref and " +
		"/v1/owner are the owner's; those under /v1 are for an owner token or a grant's; a grant's token " +
		"sees its own part and nothing of how collecting goes.",
	Tags: [][2]string{
		{"connections", "How connections are, adding and changing them."},
		{"runs", "Single runs."},
		{"records", "What has been collected, for its owner."},
		{"grants", "Letting others read."},
		{"house", "Tokens, pushes, the server itself."},
		{"devices", "For the collectors on the owner's machines. Every request says X-PDPP-Collector-Protocol: 1."},
		{"agents", "For programs that act for the owner."},
		{"read", "Records, for an owner token or a grant's."},
		{"oauth", "How an app asks for a grant."},
		{"process", "Whether the process lives."},
	},
	Schemes: map[string]map[string]string{
		"session": {"type": "apiKey", "in": "cookie", "name": "pdpp_session",
			"description": "The owner's session, of a browser that signed in; with an https address the name is " +
				"__Host-pdpp_session. What makes a new way in needs proof that is at most ten minutes old " +
				"(POST /confirm)."},
		"owner": {"type": "http", "scheme": "bearer",
			"description": "An owner token: pdpp_ot_... It needs the scope of the route: read to look, run to " +
				"start and stop runs, manage to change, all to make ways in."},
		"grant": {"type": "http", "scheme": "bearer",
			"description": "The token of a grant: pdpp_gt_..."},
		"device": {"type": "http", "scheme": "bearer",
			"description": "The token of a device: ldt_... It opens what is that device's own, and nothing else."},
	},
	Parameters: map[string]string{
		"device": "Id of the device that owns the token.", "source": "Id of a source of the device.",
		"connection": "Id of a connection.",
		"key":        "Key of a record, escaped as one segment.", "stream": "Name of a stream.",
		"upload": "Id of an upload.", "sha256": "SHA-256 of a file, in hexadecimal digits.",
	},
	Errors: map[reply.Access]openapi.Schema{
		reply.AccessOwner: envelope, reply.AccessAgent: envelope, reply.AccessReader: envelope,
		reply.AccessGrant: envelope, reply.AccessDevice: envelope,
		reply.AccessEnroll: envelope,
		reply.AccessApp: {Name: "OAuthError", Description: "Refused, and why.",
			Type: reflect.TypeFor[oauth.ErrorAnswer]()},
	},
	Names: map[string]string{
		"api.Aggregation":      "OwnerAggregation",
		"api.Aggregations":     "OwnerAggregations",
		"api.Completeness":     "OwnerCompleteness",
		"api.Connect":          "NewConnection",
		"api.Detail":           "ConnectionDetail",
		"api.File":             "OwnerFile",
		"api.Plan":             "SchedulePlan",
		"api.RangeFilter":      "OwnerRangeFilter",
		"api.Record":           "OwnerRecord",
		"api.RunOptions":       "RunOptions",
		"api.Span":             "OwnerSpan",
		"api.Stream":           "OwnerStream",
		"api.Token":            "OwnerToken",
		"evidence.Pace":        "CollectionRate",
		"grantview.Connector":  "ReadableConnector",
		"grantview.Group":      "AggregationGroup",
		"slice.Blob":           "UploadedBlob",
		"grantview.Related":    "RelatedRecord",
		"health.Axes":          "HealthAxes",
		"health.Badges":        "HealthBadges",
		"health.LocalProgress": "LocalDeviceProgress",
		"health.Remediation":   "ConditionRemedy",
		"health.Snapshot":      "ConnectionHealth",
		"oauth.ErrorAnswer":    "OAuthError",
		"oauth.detailedStream": "AuthorizedStream",
		"oauth.details":        "AuthorizationDetails",
		"oauth.timeRange":      "TimeRange",
		"reply.Envelope":       "Error",
		"routes.fleet":         "FleetHealth",
		"routes.sourceList":    "DeviceSourceList",
		"server.aliveAnswer":   "Alive",
		"server.checkAnswer":   "ReadinessCheck",
		"server.readyAnswer":   "Readiness",
		"slice.Gap":            "UploadedGap",
		"slice.Record":         "UploadedRecord",
		"verdict.Command":      "RemediationCommand",
		"verdict.Detail":       "VerdictDetail",
		"verdict.StreamRow":    "VerdictStream",
		"verdict.Target":       "RemediationTarget",
		"verdict.Trace":        "VerdictTrace",
		"view.Schedule":        "ScheduleSummary",
		"view.Step":            "ExplanationStep",
		"wire.Batch":           "DeviceBatch",
		"wire.BatchResult":     "DeviceBatchResult",
		"wire.Blob":            "SourceBlob",
		"wire.DeadLetterClass": "DeviceErrorClass",
		"wire.Enrollment":      "Enrol",
		"wire.Gap":             "CollectorGap",
		"wire.GapAnswer":       "CollectorGapAnswer",
		"wire.GapRecovered":    "CollectorGapRecovered",
		"wire.Heartbeat":       "DeviceHeartbeat",
		"wire.HeartbeatAnswer": "DeviceHeartbeatAnswer",
		"wire.HeartbeatError":  "DeviceError",
		"wire.Heartbeats":      "DeviceHeartbeats",
		"wire.LeasedGap":       "SourceGap",
		"wire.LeasedGaps":      "SourceGaps",
		"wire.Limits":          "UploadLimits",
		"wire.NewToken":        "NewDeviceToken",
		"wire.OutboxCounts":    "DeviceOutbox",
		"wire.Rejection":       "RejectedRecord",
		"wire.Revocation":      "DeviceEnded",
		"wire.State":           "SourceState",
		"wire.StateUpdate":     "SourceStateUpdate",
	},
	Closed: []string{
		"verdict.Tone", "verdict.Channel", "verdict.AnnotationKind", "verdict.ActionKind", "verdict.Audience",
		"verdict.Urgency",
		"verdict.Contract", "verdict.SuppressedKind", "health.State", "health.Status", "health.Severity",
		"health.Sensitivity",
		"view.Layer", "grantview.Whole", "grantview.FreshnessStatus",
	},
}
