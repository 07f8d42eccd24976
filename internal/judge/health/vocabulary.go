package health

// State is the headline of a connection.
type State string

const (
	Blocked        State = "blocked"
	CoolingOff     State = "cooling_off"
	Degraded       State = "degraded"
	Healthy        State = "healthy"
	Idle           State = "idle"
	NeedsAttention State = "needs_attention"
	Unknown        State = "unknown"
)

// States lists every headline.
var States = []State{Blocked, CoolingOff, Degraded, Healthy, Idle, NeedsAttention, Unknown}

// Freshness says whether the data is as new as the source's policy asks for.
type Freshness string

const (
	Fresh            Freshness = "fresh"
	Stale            Freshness = "stale"
	FreshnessUnknown Freshness = "unknown"
)

// Coverage says how much of what exists has been collected.
type Coverage string

const (
	Complete        Coverage = "complete"
	Partial         Coverage = "partial"
	Gapped          Coverage = "gaps"
	RetryableGap    Coverage = "retryable_gap"
	TerminalGap     Coverage = "terminal_gap"
	Deferred        Coverage = "deferred"
	InventoryOnly   Coverage = "inventory_only"
	Unavailable     Coverage = "unavailable"
	Unsupported     Coverage = "unsupported"
	CoverageUnknown Coverage = "unknown"
)

// AttentionAxis says whether a question waits for the owner.
type AttentionAxis string

const (
	AttentionNone         AttentionAxis = "none"
	AttentionOpen         AttentionAxis = "open"
	AttentionAcknowledged AttentionAxis = "acknowledged"
	AttentionInProgress   AttentionAxis = "in_progress"
)

// Outbox says how the owner's devices are getting on with their uploads.
type Outbox string

const (
	OutboxIdle    Outbox = "idle"
	OutboxActive  Outbox = "active"
	OutboxStalled Outbox = "stalled"
	OutboxUnknown Outbox = "unknown"
)

// StalledCause is why an outbox is stalled. It is empty on every other axis value.
type StalledCause string

const (
	StateReadFailed   StalledCause = "state_read_failed"
	DeadLetterBacklog StalledCause = "dead_letter_backlog"
	StalePending      StalledCause = "stale_pending"
)

// Surface says how a browser that is kept elsewhere stands.
type Surface string

const (
	SurfaceNone    Surface = "none"
	SurfaceIdle    Surface = "idle"
	SurfaceLeased  Surface = "leased"
	SurfaceWaiting Surface = "waiting"
	SurfaceFailed  Surface = "failed"
	SurfaceUnknown Surface = "unknown"
)

// Disposition says what becomes of what is still missing.
type Disposition string

const (
	DispositionComplete        Disposition = "complete"
	DispositionResumable       Disposition = "resumable"
	DispositionOwnerRefreshDue Disposition = "owner_refresh_due"
	DispositionAwaitingOwner   Disposition = "awaiting_owner"
	DispositionTerminal        Disposition = "terminal"
	DispositionChecking        Disposition = "checking"
)

// Priority says how much a stream counts.
type Priority string

const (
	RequiredStream  Priority = "required"
	OptionalStream  Priority = "optional"
	AcceptedAbsence Priority = "accepted_absence"
)

// Mode is how a connection collects, which decides the sign of progress.
type Mode string

const (
	ModeScheduled   Mode = "scheduled"
	ModeManual      Mode = "manual"
	ModeDeferred    Mode = "deferred"
	ModeLocalDevice Mode = "local_device"
)

// ScheduleMode is whether the connection has a rhythm of its own.
type ScheduleMode string

const (
	NoSchedule     ScheduleMode = "manual"
	ScheduleActive ScheduleMode = "scheduled-active"
	SchedulePaused ScheduleMode = "scheduled-disabled"
)

// ReasonStaleManual is the reason of data that aged past its window at a source
// that only the owner refreshes.
const ReasonStaleManual = "stale_manual_refresh"

// ReasonPressure is the reason of a pause that the source itself is the cause of: its
// refusals, or a time before which it is not to be asked.
const ReasonPressure = "source_pressure"
