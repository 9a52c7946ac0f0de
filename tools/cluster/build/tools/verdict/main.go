// Command verdict says what GitOps tools make of objects: the verdict of kstatus, which Flux and Helm wait by, and what
// Lua scripts return, run as Argo CD runs them. It reads one question from standard input and writes one answer.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	// by name; each is run for each object
	Scripts map[string]string `json:"scripts"`
	Objects []map[string]any  `json:"objects"`
}

type answer struct {
	Kstatus result            `json:"kstatus"`
	Scripts map[string]result `json:"scripts"`
}

type result struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked question
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return err
	}
	answers := make([]answer, 0, len(asked.Objects))
	for _, object := range asked.Objects {
		answers = append(answers, judge(object, asked.Scripts))
	}
	return json.NewEncoder(out).Encode(answers)
}

func judge(object map[string]any, scripts map[string]string) answer {
	// integers as int64, as clients of Kubernetes have them
	text, _ := json.Marshal(object)
	given := &unstructured.Unstructured{}
	if err := given.UnmarshalJSON(text); err != nil {
		return answer{Kstatus: result{Error: err.Error()}}
	}
	results := map[string]result{}
	for name, script := range scripts {
		results[name] = outcome(runScript(script, given.Object))
	}
	return answer{Kstatus: outcome(compute(given)), Scripts: results}
}

func outcome(value any, err error) result {
	if err != nil {
		return result{Error: err.Error()}
	}
	return result{Value: value}
}

func compute(object *unstructured.Unstructured) (any, error) {
	found, err := status.Compute(object)
	if err != nil {
		return nil, err
	}
	return map[string]string{"status": found.Status.String(), "message": found.Message}, nil
}

// Argo CD gives a script a second, the object as the global obj, and of the libraries base, package and table; there is
// no string and no math. A part of os is there only for scripts that require it.
func runScript(script string, object map[string]any) (any, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	libraries := []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	}
	for _, library := range libraries {
		state.Push(state.NewFunction(library.open))
		state.Push(lua.LString(library.name))
		if err := state.PCall(1, 0, nil); err != nil {
			return nil, err
		}
	}
	state.PreloadModule(lua.OsLibName, loadSafeOS)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	return fromLua(state.Get(-1)), nil
}

func loadSafeOS(state *lua.LState) int {
	lua.OpenOs(state)
	all := state.Get(-1).(*lua.LTable)
	state.SetGlobal(lua.OsLibName, lua.LNil)
	safe := state.NewTable()
	for _, name := range []string{"time", "date"} {
		safe.RawSetString(name, all.RawGetString(name))
	}
	state.Push(safe)
	return 1
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case int64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.CreateTable(len(value), 0)
		for _, item := range value {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for name, item := range value {
			table.RawSetString(name, toLua(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}

// A table with a first item is a list; one that is empty could be either, and becomes an empty list as in Argo CD.
func fromLua(value lua.LValue) any {
	switch value := value.(type) {
	case lua.LBool:
		return bool(value)
	case lua.LNumber:
		return float64(value)
	case lua.LString:
		return string(value)
	case *lua.LTable:
		return fromTable(value)
	default:
		return nil
	}
}

func fromTable(table *lua.LTable) any {
	list := make([]any, 0, table.Len())
	members := map[string]any{}
	table.ForEach(func(key, item lua.LValue) {
		if key.Type() == lua.LTNumber {
			list = append(list, fromLua(item))
			return
		}
		members[key.String()] = fromLua(item)
	})
	if len(members) > 0 {
		return members
	}
	return list
}
