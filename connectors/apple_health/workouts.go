package applehealth

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// workout is one that is still open: newer exports say in its parts what older ones say in
// itself.
type workout struct {
	ID       string   `json:"id"`
	Activity string   `json:"workout_activity_type,omitzero"`
	Duration *float64 `json:"duration_minutes,omitzero"`
	Energy   *float64 `json:"total_energy_burned_kcal,omitzero"`
	Distance *float64 `json:"total_distance_km,omitzero"`
	Source   string   `json:"source_name,omitzero"`
	Start    string   `json:"start_date"`
	End      string   `json:"end_date,omitzero"`

	Device     string            `json:"device,omitzero"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Events     []event           `json:"events,omitempty"`
	Statistics []statistic       `json:"statistics,omitempty"`
	Routes     []string          `json:"route_files,omitempty"`

	noted   []entry
	inRoute bool
	key     [][]byte
}

// event is something that happened within a workout, such as a pause.
type event struct {
	Type     string   `json:"type"`
	Date     string   `json:"date,omitzero"`
	Duration *float64 `json:"duration_minutes,omitzero"`
}

// statistic sums a measurement up over a workout.
type statistic struct {
	Type    string   `json:"type"`
	Sum     *float64 `json:"sum,omitzero"`
	Average *float64 `json:"average,omitzero"`
	Minimum *float64 `json:"minimum,omitzero"`
	Maximum *float64 `json:"maximum,omitzero"`
	Unit    string   `json:"unit,omitzero"`
}

// ring is a day of the rings of activity.
type ring struct {
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

// rings brings a day of activity.
func (h *health) rings(e *element) {
	h.at.Count++
	day := e.text("dateComponents")
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	h.m.Emit("activity_rings", connectorkit.Upsert(ring{
		ID: day, Date: day, Energy: measure(e, "activeEnergyBurned", "activeEnergyBurnedUnit", kilocalories),
		EnergyGoal: measure(e, "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", kilocalories),
		Move:       numberOf(e.text("appleMoveTime")), MoveGoal: numberOf(e.text("appleMoveTimeGoal")),
		Exercise: numberOf(e.text("appleExerciseTime")), ExerciseGoal: numberOf(e.text("appleExerciseTimeGoal")),
		Stand: numberOf(e.text("appleStandHours")), StandGoal: numberOf(e.text("appleStandHoursGoal")),
	}))
}

// part takes an element within the workout.
func (w *workout) part(name string, e *element) {
	if len(w.noted)+len(w.Events)+len(w.Statistics)+len(w.Routes) >= maxParts {
		return
	}
	switch name {
	case "WorkoutStatistics":
		w.statistics(e)
		w.Statistics = append(w.Statistics, statistic{e.text("type"), numberOf(e.text("sum")), numberOf(e.text("average")),
			numberOf(e.text("minimum")), numberOf(e.text("maximum")), e.text("unit")})
	case "WorkoutEvent":
		w.Events = append(w.Events,
			event{e.text("type"), timeOf(e.raw("date")), measure(e, "duration", "durationUnit", minutes)})
	case "WorkoutRoute":
		w.inRoute = !e.empty
	case "FileReference":
		w.Routes = append(w.Routes, e.text("path"))
	case "MetadataEntry":
		if !w.inRoute {
			w.noted = append(w.noted, entry{e.text("key"), e.text("value")})
		}
	}
}

func workoutOf(e *element) *workout {
	w := &workout{
		Device: deviceOf(e.text("device")), Activity: e.text("workoutActivityType"), Source: e.text("sourceName"),
		Start: timeOf(e.raw("startDate")), End: timeOf(e.raw("endDate")),
		Duration: measure(e, "duration", "durationUnit", minutes), Energy: measure(e, "totalEnergyBurned", "totalEnergyBurnedUnit", kilocalories),
		Distance: measure(e, "totalDistance", "totalDistanceUnit", kilometres),
	}
	for _, name := range []string{"workoutActivityType", "sourceName", "startDate", "endDate", "duration"} {
		w.key = append(w.key, append([]byte(nil), e.raw(name)...))
	}
	return w
}

// statistics takes a sum over the workout.
func (w *workout) statistics(e *element) {
	switch kind := e.text("type"); {
	case kind == "HKQuantityTypeIdentifierActiveEnergyBurned" && w.Energy == nil:
		w.Energy = measure(e, "sum", "unit", kilocalories)
	case strings.HasPrefix(kind, "HKQuantityTypeIdentifierDistance") && w.Distance == nil:
		w.Distance = measure(e, "sum", "unit", kilometres)
	}
}

// closeWorkout brings the workout that is open.
func (h *health) closeWorkout() {
	w := h.workout
	if h.workout = nil; w == nil {
		return
	}
	h.at.Count++
	if w.Start == "" {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	w.ID, w.Metadata = string(h.appendID(nil, w.key...)), entries(w.noted)
	h.m.Emit("workouts", connectorkit.Upsert(w))
}

var (
	minutes      = map[string]float64{"": 1, "min": 1, "s": 1.0 / 60, "hr": 60, "h": 60}
	kilocalories = map[string]float64{"": 1, "kcal": 1, "Cal": 1, "cal": 0.001, "kJ": 1 / 4.184, "J": 1 / 4184.0}
	kilometres   = map[string]float64{"": 1, "km": 1, "m": 0.001, "mi": 1.609344, "yd": 0.0009144, "ft": 0.0003048, "cm": 0.00001}
)

// measure reads a number in the unit that records have; nil when it is none, or of a unit that
// is not known.
func measure(e *element, value, unit string, units map[string]float64) *float64 {
	n, err := strconv.ParseFloat(e.text(value), 64)
	factor, known := units[e.text(unit)]
	if err != nil || !known || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	n *= factor
	return &n
}
