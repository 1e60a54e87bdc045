package service

import "path/filepath"

// Temporal returns a Temporal server whose histories are in two databases of a
// PostgreSQL server. The tools are the folder of .ci/stand-ins.
func Temporal(tools string, postgres *Process) (*Process, error) {
	program, err := tool(tools, "temporal-server")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("temporal", program)
	if err != nil {
		return nil, err
	}
	p.args = []string{"-postgres", postgres.Address, "-user", PostgresUser, "-port", p.port()}
	return p, nil
}

// Milvus returns Milvus's light server. The tools are the folder of .ci/stand-ins.
func Milvus(tools string) (*Process, error) {
	program, err := tool(tools, "milvus-lite/bin/milvus-lite")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("milvus", program)
	if err != nil {
		return nil, err
	}
	p.args = []string{"server", "--data-dir", filepath.Join(p.folder, "data"), "--host", "127.0.0.1", "--port", p.port()}
	return p, nil
}

// MilvusCore returns the C++ core of Milvus as a server. The tools are the folder of
// .ci/stand-ins.
func MilvusCore(tools string) (*Process, error) {
	program, err := tool(tools, "milvus-core/milvus_lite/lib/milvus")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("milvus-core", program)
	if err != nil {
		return nil, err
	}
	p.args = []string{filepath.Join(p.folder, "core.db"), p.Address, "ERROR"}
	p.env = []string{"LD_LIBRARY_PATH=" + filepath.Dir(program)}
	return p, nil
}

// MilvusURL returns the URL of an index in the light server.
func (p *Process) MilvusURL() string { return "milvus://" + p.Address + "?analyzer=standard" }

// Cairn returns a role of a cluster of Cairn, "api" or "worker", which serves its API or
// its health at the address. The variables are added to the environment.
func Cairn(program, role string, env []string) (*Process, error) {
	p, err := newProcess("cairn-"+role, program)
	if err != nil {
		return nil, err
	}
	listen := map[string]string{"api": "--listen", "worker": "--health-listen"}[role]
	p.args, p.env = []string{role, "--data", filepath.Join(p.folder, "data"), listen, p.Address}, env
	return p, nil
}
