package sqlite

import (
	"database/sql/driver"
	"fmt"
	"runtime"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// The functions by which statements read fields of a record; PostgreSQL has them as
// functions of its own. They read JSON as the rest of the program does, which SQLite's
// functions do not: those read a number by its value.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("record_holds", 3, recordHolds)
	sqlite.MustRegisterDeterministicScalarFunction("record_among", 3, recordAmong)
	sqlite.MustRegisterDeterministicScalarFunction("record_pick", 2, recordPick)
	sqlite.MustRegisterDeterministicScalarFunction("record_text", 2, recordKey(sqlstore.KeyOfText))
	sqlite.MustRegisterDeterministicScalarFunction("record_number", 2, recordKey(sqlstore.KeyOfNumber))
	sqlite.MustRegisterDeterministicScalarFunction("record_time", 2, recordKey(sqlstore.KeyOfTime))
}

// recordKey makes a function of what a field is compared by; NULL where it has no such value.
func recordKey[T any](key func(data, field string) (T, bool)) func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	return func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		data, _ := args[0].(string)
		field, _ := args[1].(string)
		runtime.Gosched() // as in recordHolds
		if value, ok := key(data, field); ok {
			return value, nil
		}
		return nil, nil
	}
}

// recordHolds says whether a record has a value in a field; NULL when the value is NULL.
func recordHolds(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, _ := args[0].(string)
	field, _ := args[1].(string)
	value, known := args[2].(string)
	// A filter looks at every record of a stream. SQLite runs in this process and never
	// waits, so that whoever is to answer meanwhile would get a turn every 10 ms only.
	runtime.Gosched()
	if !known {
		return nil, nil
	}
	return sqlstore.HoldsField(data, field, value), nil
}

// recordAmong says whether a field of a record has one of a list of values.
func recordAmong(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, _ := args[0].(string)
	field, _ := args[1].(string)
	runtime.Gosched() // as above
	values, err := texts(args[2])
	return err == nil && sqlstore.FieldAmong(data, field, values), err
}

// recordPick gives a record's fields of a list; NULL for a record without data, and the
// whole of it for no list.
func recordPick(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, there := args[0].(string)
	if !there || args[1] == nil {
		return args[0], nil
	}
	fields, err := texts(args[1])
	if err != nil {
		return nil, err
	}
	return string(sqlstore.PickFields([]byte(data), fields)), nil
}

// texts reads what List of the dialect makes.
func texts(arg driver.Value) (list []string, err error) {
	body, _ := arg.(string)
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return nil, fmt.Errorf("read a list of texts: %w", err)
	}
	return list, nil
}
