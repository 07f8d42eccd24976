package applehealth

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// openWorkout is a workout before its end tag. Newer exports put details into its parts, older ones into
// its own attributes.
type openWorkout struct {
	ID       string   `json:"id"`
	Activity string   `json:"workout_activity_type,omitzero"`
	Duration *float64 `json:"duration_minutes,omitzero"`
	Energy   *float64 `json:"total_energy_burned_kcal,omitzero"`
	Distance *float64 `json:"total_distance_km,omitzero"`
	Source   string   `json:"source_name,omitzero"`
	Start    string   `json:"start_date"`
	End      string   `json:"end_date,omitzero"`

	Device     string             `json:"device,omitzero"`
	Metadata   map[string]string  `json:"metadata,omitempty"`
	Events     []workoutEvent     `json:"events,omitempty"`
	Statistics []workoutStatistic `json:"statistics,omitempty"`
	Routes     []string           `json:"route_files,omitempty"`

	noted   []metadataEntry
	inRoute bool
	key     [][]byte
}

// workoutEvent is something that happened within a workout, such as a pause.
type workoutEvent struct {
	Type     string   `json:"type"`
	Date     string   `json:"date,omitzero"`
	Duration *float64 `json:"duration_minutes,omitzero"`
}

// workoutStatistic sums a measurement up over a workout.
type workoutStatistic struct {
	Type    string   `json:"type"`
	Sum     *float64 `json:"sum,omitzero"`
	Average *float64 `json:"average,omitzero"`
	Minimum *float64 `json:"minimum,omitzero"`
	Maximum *float64 `json:"maximum,omitzero"`
	Unit    string   `json:"unit,omitzero"`
}

// activityRing is a day of the rings of activity.
type activityRing struct {
	ID           string   `json:"id"`
	Date         string   `json:"date"`
	Energy       *float64 `json:"active_energy_kcal,omitzero"`
	EnergyGoal   *float64 `json:"active_energy_goal_kcal,omitzero"`
	Move         *float64 `json:"move_minutes,omitzero"`
	MoveGoal     *float64 `json:"move_goal_minutes,omitzero"`
	Exercise     *float64 `json:"exercise_minutes,omitzero"`
	ExerciseGoal *float64 `json:"exercise_goal_minutes,omitzero"`
	Stand        *float64 `json:"stand_hours,omitzero"`
	StandGoal    *float64 `json:"stand_goal_hours,omitzero"`
}

// emitActivityRing emits a day of activity.
func (h *exportReader) emitActivityRing(e *xmlElement) {
	h.at.Count++
	day := e.attributeText("dateComponents")
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	h.m.Emit("activity_rings", connectorkit.Upsert(activityRing{
		ID: day, Date: day, Energy: numberInUnit(e, "activeEnergyBurned", "activeEnergyBurnedUnit", kilocalories),
		EnergyGoal:   numberInUnit(e, "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", kilocalories),
		Move:         parseNumber(e.attributeText("appleMoveTime")),
		MoveGoal:     parseNumber(e.attributeText("appleMoveTimeGoal")),
		Exercise:     parseNumber(e.attributeText("appleExerciseTime")),
		ExerciseGoal: parseNumber(e.attributeText("appleExerciseTimeGoal")),
		Stand:        parseNumber(e.attributeText("appleStandHours")),
		StandGoal:    parseNumber(e.attributeText("appleStandHoursGoal")),
	}))
}

// addWorkoutPart adds an element within the workout.
func (w *openWorkout) addWorkoutPart(name string, e *xmlElement) {
	if len(w.noted)+len(w.Events)+len(w.Statistics)+len(w.Routes) >= maxRecordParts {
		return
	}
	switch name {
	case "WorkoutStatistics":
		w.statistics(e)
		w.Statistics = append(w.Statistics, workoutStatistic{e.attributeText("type"), parseNumber(e.attributeText("sum")),
			parseNumber(e.attributeText("average")),
			parseNumber(e.attributeText("minimum")), parseNumber(e.attributeText("maximum")), e.attributeText("unit")})
	case "WorkoutEvent":
		w.Events = append(w.Events,
			workoutEvent{e.attributeText("type"), parseExportTime(e.rawAttribute("date")),
				numberInUnit(e, "duration", "durationUnit", minutesPerUnit)})
	case "WorkoutRoute":
		w.inRoute = !e.empty
	case "FileReference":
		w.Routes = append(w.Routes, e.attributeText("path"))
	case "MetadataEntry":
		if !w.inRoute {
			w.noted = append(w.noted, metadataEntry{e.attributeText("key"), e.attributeText("value")})
		}
	}
}

func newOpenWorkout(e *xmlElement) *openWorkout {
	w := &openWorkout{
		Device: deviceDescription(e.attributeText("device")), Activity: e.attributeText("workoutActivityType"),
		Source: e.attributeText("sourceName"),
		Start:  parseExportTime(e.rawAttribute("startDate")), End: parseExportTime(e.rawAttribute("endDate")),
		Duration: numberInUnit(e, "duration", "durationUnit", minutesPerUnit),
		Energy:   numberInUnit(e, "totalEnergyBurned", "totalEnergyBurnedUnit", kilocalories),
		Distance: numberInUnit(e, "totalDistance", "totalDistanceUnit", kilometres),
	}
	for _, name := range []string{"workoutActivityType", "sourceName", "startDate", "endDate", "duration"} {
		w.key = append(w.key, append([]byte(nil), e.rawAttribute(name)...))
	}
	return w
}

// statistics adds a sum over the workout.
func (w *openWorkout) statistics(e *xmlElement) {
	switch kind := e.attributeText("type"); {
	case kind == "HKQuantityTypeIdentifierActiveEnergyBurned" && w.Energy == nil:
		w.Energy = numberInUnit(e, "sum", "unit", kilocalories)
	case strings.HasPrefix(kind, "HKQuantityTypeIdentifierDistance") && w.Distance == nil:
		w.Distance = numberInUnit(e, "sum", "unit", kilometres)
	}
}

// closeWorkout emits the open workout.
func (h *exportReader) closeWorkout() {
	w := h.workout
	if h.workout = nil; w == nil {
		return
	}
	h.at.Count++
	if w.Start == "" {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	w.ID, w.Metadata = string(h.appendRecordID(nil, w.key...)), metadataByKey(w.noted)
	h.m.Emit("workouts", connectorkit.Upsert(w))
}

var (
	minutesPerUnit = map[string]float64{"": 1, "min": 1, "s": 1.0 / 60, "hr": 60, "h": 60}
	kilocalories   = map[string]float64{"": 1, "kcal": 1, "Cal": 1, "cal": 0.001, "kJ": 1 / 4.184, "J": 1 / 4184.0}
	kilometres     = map[string]float64{"": 1, "km": 1, "m": 0.001, "mi": 1.609344, "yd": 0.0009144, "ft": 0.0003048,
		"cm": 0.00001}
)

// numberInUnit returns a number converted to the unit of records; nil when it is invalid or its unit is unknown.
func numberInUnit(e *xmlElement, value, unit string, units map[string]float64) *float64 {
	n, err := strconv.ParseFloat(e.attributeText(value), 64)
	factor, known := units[e.attributeText(unit)]
	if err != nil || !known || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	n *= factor
	return &n
}
