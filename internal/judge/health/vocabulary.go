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

// Freshness is whether the data is as new as the source's policy requires.
type Freshness string

const (
	Fresh            Freshness = "fresh"
	Stale            Freshness = "stale"
	FreshnessUnknown Freshness = "unknown"
)

// Coverage is how much of the existing data has been collected.
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

// AttentionAxis is whether a question waits for the owner.
type AttentionAxis string

const (
	AttentionNone         AttentionAxis = "none"
	AttentionOpen         AttentionAxis = "open"
	AttentionAcknowledged AttentionAxis = "acknowledged"
	AttentionInProgress   AttentionAxis = "in_progress"
)

// Outbox is the upload state of the owner's devices.
type Outbox string

const (
	OutboxIdle    Outbox = "idle"
	OutboxActive  Outbox = "active"
	OutboxStalled Outbox = "stalled"
	OutboxUnknown Outbox = "unknown"
)

// StalledCause is why an outbox is stalled. It is empty for other states.
type StalledCause string

const (
	StateReadFailed   StalledCause = "state_read_failed"
	DeadLetterBacklog StalledCause = "dead_letter_backlog"
	StalePending      StalledCause = "stale_pending"
)

// Surface is the state of a browser on another host.
type Surface string

const (
	SurfaceNone    Surface = "none"
	SurfaceIdle    Surface = "idle"
	SurfaceLeased  Surface = "leased"
	SurfaceWaiting Surface = "waiting"
	SurfaceFailed  Surface = "failed"
	SurfaceUnknown Surface = "unknown"
)

// Disposition is whether and how missing data can still arrive.
type Disposition string

const (
	DispositionComplete        Disposition = "complete"
	DispositionResumable       Disposition = "resumable"
	DispositionOwnerRefreshDue Disposition = "owner_refresh_due"
	DispositionAwaitingOwner   Disposition = "awaiting_owner"
	DispositionTerminal        Disposition = "terminal"
	DispositionChecking        Disposition = "checking"
)

// Priority is how much a stream counts.
type Priority string

const (
	RequiredStream  Priority = "required"
	OptionalStream  Priority = "optional"
	AcceptedAbsence Priority = "accepted_absence"
)

// Mode is how a connection collects. It decides which sign of progress is shown.
type Mode string

const (
	ModeScheduled   Mode = "scheduled"
	ModeManual      Mode = "manual"
	ModeDeferred    Mode = "deferred"
	ModeLocalDevice Mode = "local_device"
)

// ScheduleMode is whether the connection has a schedule.
type ScheduleMode string

const (
	NoSchedule     ScheduleMode = "manual"
	ScheduleActive ScheduleMode = "scheduled-active"
	SchedulePaused ScheduleMode = "scheduled-disabled"
)

// ReasonStaleManual means that data aged past its window at a source that only the owner refreshes.
const ReasonStaleManual = "stale_manual_refresh"

// ReasonPressure means a pause caused by the source: its refusals, or a time before which it must not be asked.
const ReasonPressure = "source_pressure"
