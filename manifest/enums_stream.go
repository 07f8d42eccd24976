package manifest

import (
	"slices"
	"strings"
)

// Semantics is how the records of a stream change over time.
type Semantics string

// Values of Semantics: records are only added, or the newest version of a record replaces the older one.
const (
	AppendOnly   Semantics = "append_only"
	MutableState Semantics = "mutable_state"
)

// AllSemantics lists every Semantics.
var AllSemantics = []Semantics{AppendOnly, MutableState}

// Valid reports whether s is in AllSemantics.
func (s Semantics) Valid() bool      { return slices.Contains(AllSemantics, s) }
func (s Semantics) values() []string { return stringsOf(AllSemantics) }

func (Semantics) aliases() map[string]string { return map[string]string{"append": string(AppendOnly)} }

// CoveragePolicy is how completely a stream should be collected.
type CoveragePolicy string

// The coverage policies. Every policy but collect declares an accepted absence.
const (
	PolicyCollect       CoveragePolicy = "collect"
	PolicyDeferred      CoveragePolicy = "deferred"
	PolicyInventoryOnly CoveragePolicy = "inventory_only"
	PolicyUnavailable   CoveragePolicy = "unavailable"
	PolicyUnsupported   CoveragePolicy = "unsupported"
)

// CoveragePolicies lists every CoveragePolicy.
var CoveragePolicies = []CoveragePolicy{PolicyCollect, PolicyDeferred, PolicyInventoryOnly,
	PolicyUnavailable, PolicyUnsupported}

// Valid reports whether p is in CoveragePolicies.
func (p CoveragePolicy) Valid() bool      { return slices.Contains(CoveragePolicies, p) }
func (p CoveragePolicy) values() []string { return stringsOf(CoveragePolicies) }

// AvailabilityState is how far a stream is usable in the current mode.
type AvailabilityState string

// The availability states.
const (
	AvailabilitySupported         AvailabilityState = "supported"
	AvailabilityUnsupportedInMode AvailabilityState = "unsupported_in_mode"
	AvailabilityExperimental      AvailabilityState = "experimental"
	AvailabilityDeprecated        AvailabilityState = "deprecated"
)

// AvailabilityStates lists every AvailabilityState.
var AvailabilityStates = []AvailabilityState{AvailabilitySupported, AvailabilityUnsupportedInMode,
	AvailabilityExperimental, AvailabilityDeprecated}

// Valid reports whether s is in AvailabilityStates.
func (s AvailabilityState) Valid() bool      { return slices.Contains(AvailabilityStates, s) }
func (s AvailabilityState) values() []string { return stringsOf(AvailabilityStates) }

// CoverageStrategy is the evidence for the completeness of a stream.
type CoverageStrategy string

// The coverage strategies.
const (
	StrategyCheckpointWindow       CoverageStrategy = "checkpoint_window"
	StrategyFullInventory          CoverageStrategy = "full_inventory"
	StrategyParentDetailAccounting CoverageStrategy = "parent_detail_accounting"
	StrategySnapshotImportReceipt  CoverageStrategy = "snapshot_import_receipt"
	StrategySingletonPresence      CoverageStrategy = "singleton_presence"
)

// CoverageStrategies lists every CoverageStrategy.
var CoverageStrategies = []CoverageStrategy{StrategyCheckpointWindow, StrategyFullInventory,
	StrategyParentDetailAccounting, StrategySnapshotImportReceipt, StrategySingletonPresence}

// Valid reports whether s is in CoverageStrategies.
func (s CoverageStrategy) Valid() bool      { return slices.Contains(CoverageStrategies, s) }
func (s CoverageStrategy) values() []string { return stringsOf(CoverageStrategies) }

// FreshnessStrategy is the evidence for the age of a stream's data.
type FreshnessStrategy string

// The freshness strategies.
const (
	FreshnessDeviceHeartbeat    FreshnessStrategy = "device_heartbeat"
	FreshnessManualAsOf         FreshnessStrategy = "manual_as_of"
	FreshnessNotTrackable       FreshnessStrategy = "not_trackable"
	FreshnessScheduledWindow    FreshnessStrategy = "scheduled_window"
	FreshnessSourceReportedAsOf FreshnessStrategy = "source_reported_as_of"
)

// FreshnessStrategies lists every FreshnessStrategy.
var FreshnessStrategies = []FreshnessStrategy{FreshnessDeviceHeartbeat, FreshnessManualAsOf,
	FreshnessNotTrackable, FreshnessScheduledWindow, FreshnessSourceReportedAsOf}

// Valid reports whether s is in FreshnessStrategies.
func (s FreshnessStrategy) Valid() bool      { return slices.Contains(FreshnessStrategies, s) }
func (s FreshnessStrategy) values() []string { return stringsOf(FreshnessStrategies) }

// Checkpoint is when a stream's records, gaps and cursor become durable.
type Checkpoint string

// Values of Checkpoint: at each STATE, or when the run has succeeded.
const (
	CheckpointSlice Checkpoint = "slice"
	CheckpointRun   Checkpoint = "run"
)

// Checkpoints lists every Checkpoint.
var Checkpoints = []Checkpoint{CheckpointSlice, CheckpointRun}

// Valid reports whether c is in Checkpoints.
func (c Checkpoint) Valid() bool      { return slices.Contains(Checkpoints, c) }
func (c Checkpoint) values() []string { return stringsOf(Checkpoints) }

// Cardinality is how many records a relationship refers to.
type Cardinality string

// The cardinalities.
const (
	HasOne  Cardinality = "has_one"
	HasMany Cardinality = "has_many"
)

// Cardinalities lists every Cardinality.
var Cardinalities = []Cardinality{HasOne, HasMany}

// Valid reports whether c is in Cardinalities.
func (c Cardinality) Valid() bool      { return slices.Contains(Cardinalities, c) }
func (c Cardinality) values() []string { return stringsOf(Cardinalities) }

// RangeOperator is a comparison with a value.
type RangeOperator string

// The range operators.
const (
	RangeGT  RangeOperator = "gt"
	RangeGTE RangeOperator = "gte"
	RangeLT  RangeOperator = "lt"
	RangeLTE RangeOperator = "lte"
)

// RangeOperators lists every RangeOperator.
var RangeOperators = []RangeOperator{RangeGT, RangeGTE, RangeLT, RangeLTE}

// CutOperator splits a query parameter such as amount][gte into field and operator.
func CutOperator(parameter string) (field string, o RangeOperator, found bool) {
	i := strings.LastIndex(parameter, "][")
	if i < 0 || !RangeOperator(parameter[i+2:]).Valid() {
		return parameter, "", false
	}
	return parameter[:i], RangeOperator(parameter[i+2:]), true
}

// Valid reports whether o is in RangeOperators.
func (o RangeOperator) Valid() bool      { return slices.Contains(RangeOperators, o) }
func (o RangeOperator) values() []string { return stringsOf(RangeOperators) }
