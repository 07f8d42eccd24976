package sqlite

import (
	"database/sql/driver"
	"fmt"
	"runtime"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"
)

// These functions read fields of a record in SQL; PostgreSQL has SQL functions for the same. They read JSON like the
// rest of the program. SQLite's own functions would read a number by its value.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("record_holds", 3, recordHoldsFunction)
	sqlite.MustRegisterDeterministicScalarFunction("record_among", 3, recordAmongFunction)
	sqlite.MustRegisterDeterministicScalarFunction("record_pick", 2, recordPickFunction)
	sqlite.MustRegisterDeterministicScalarFunction("record_text", 2, recordKeyFunction(recordfields.KeyOfText))
	sqlite.MustRegisterDeterministicScalarFunction("record_number", 2, recordKeyFunction(recordfields.KeyOfNumber))
	sqlite.MustRegisterDeterministicScalarFunction("record_time", 2, recordKeyFunction(recordfields.KeyOfTime))
}

// recordKeyFunction returns an SQL function that computes a field's key; NULL where there is none.
func recordKeyFunction[T any](
	key func(data, field string) (T, bool),
) func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	return func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		data, _ := args[0].(string)
		field, _ := args[1].(string)
		runtime.Gosched() // as in recordHoldsFunction
		if value, ok := key(data, field); ok {
			return value, nil
		}
		return nil, nil
	}
}

// recordHoldsFunction reports whether a record has a value in a field; NULL when the value is NULL.
func recordHoldsFunction(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, _ := args[0].(string)
	field, _ := args[1].(string)
	value, known := args[2].(string)
	// A filter reads every record of a stream. SQLite runs in this process without blocking, so other goroutines
	// would otherwise get a turn only every 10 ms.
	runtime.Gosched()
	if !known {
		return nil, nil
	}
	return recordfields.HoldsField(data, field, value), nil
}

// recordAmongFunction reports whether a field of a record has one of a list of values.
func recordAmongFunction(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, _ := args[0].(string)
	field, _ := args[1].(string)
	runtime.Gosched() // as above
	values, err := parseTextList(args[2])
	return err == nil && recordfields.FieldValueAmong(data, field, values), err
}

// recordPickFunction returns the listed fields of a record: NULL for a record without data, and the whole record
// without a list.
func recordPickFunction(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	data, there := args[0].(string)
	if !there || args[1] == nil {
		return args[0], nil
	}
	fields, err := parseTextList(args[1])
	if err != nil {
		return nil, err
	}
	return string(recordfields.PickFields([]byte(data), fields)), nil
}

// parseTextList parses the result of ListArgument.
func parseTextList(arg driver.Value) (list []string, err error) {
	body, _ := arg.(string)
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return nil, fmt.Errorf("read a list of texts: %w", err)
	}
	return list, nil
}
