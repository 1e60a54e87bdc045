package service

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

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

// lightServer is the main program of Milvus's light server without two faults of its own main
// program, which lose writes that it has acknowledged. That one closes the data at once when
// it ends, while requests are under way. And the first requests after a start open a
// collection at the same time, each for itself: all but the last write into one that nobody
// reads.
const lightServer = `
import sys, threading, grpc._server
from milvus_lite.db import MilvusLite
find_collection, finding = MilvusLite.get_collection, threading.RLock()
def find_collection_alone(*arguments, **named):
    with finding:
        return find_collection(*arguments, **named)
MilvusLite.get_collection = find_collection_alone
stop = grpc._server._Server.stop
def stop_and_wait(server, grace):
    ended = stop(server, grace)
    ended.wait()
    return ended
grpc._server._Server.stop = stop_and_wait
from milvus_lite.cmdline import main
sys.exit(main())
`

// Milvus returns Milvus's light server. The tools are the folder of .ci/stand-ins.
func Milvus(tools string) (*Process, error) {
	program, err := tool(tools, "milvus-lite/bin/python3")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("milvus", program)
	if err != nil {
		return nil, err
	}
	p.args = []string{"-c", lightServer, "server", "--data-dir", filepath.Join(p.folder, "data"), "--host", "127.0.0.1", "--port", p.port()}
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

// MilvusToken is the token of the administrator whom a new Milvus server has.
const MilvusToken = "root:Milvus"

// MilvusServer returns a whole Milvus server of version 2.3, with its etcd and its log of
// messages in one process. It has no search for words. Its clients give MilvusToken. The
// tools are the folder of .ci/stand-ins.
func MilvusServer(tools string) (*Process, error) {
	program, err := tool(tools, "milvus-server/bin/milvus")
	if err != nil {
		return nil, err
	}
	p, err := newProcess("milvus-server", program)
	if err != nil {
		return nil, err
	}
	health, err := p.milvusEnv(filepath.Dir(filepath.Dir(program)))
	if err != nil {
		return nil, err
	}
	p.args = []string{"run", "standalone"}
	p.ready = func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, health, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
		return errors.Join(err, response.Body.Close())
	}
	return p, nil
}

// milvusEnv sets the environment of a whole Milvus server, whose variables go before its
// file: its data in the folder, and ports that are free. It returns where the server says
// that it is ready.
func (p *Process) milvusEnv(installed string) (health string, err error) {
	p.env = []string{
		"DEPLOY_MODE=STANDALONE", "MILVUSCONF=" + filepath.Join(installed, "configs"), "LD_LIBRARY_PATH=" + filepath.Join(installed, "bin"),
		"PROXY_PORT=" + p.port(), "COMMON_SESSION_TTL=5", "COMMON_SECURITY_AUTHORIZATIONENABLED=true",
	}
	for name, folder := range map[string]string{
		"ETCD_DATA_DIR": "etcd", "LOCALSTORAGE_PATH": "storage", "ROCKSMQ_PATH": "rocksmq", "LOG_FILE_ROOTPATH": "logs", "MILVUS_RUN_DIR": "run",
		"ETCD_LOG_PATH": "etcd.log", "HOME": "",
	} {
		p.env = append(p.env, name+"="+filepath.Join(p.folder, folder))
	}
	for _, name := range []string{
		"METRICS_PORT", "PROXY_INTERNALPORT", "ROOTCOORD_PORT", "QUERYCOORD_PORT", "QUERYNODE_PORT", "INDEXNODE_PORT", "DATACOORD_PORT", "DATANODE_PORT",
	} {
		address, err := freeAddress()
		if err != nil {
			return "", err
		}
		_, port, _ := net.SplitHostPort(address) // the address comes from a listener
		p.env = append(p.env, name+"="+port)
		if name == "METRICS_PORT" {
			health = "http://" + address + "/healthz"
		}
	}
	// Nobody else speaks to its etcd, which would take fixed ports.
	config := "name: default\ndata-dir: " + filepath.Join(p.folder, "etcd") + "\ninitial-cluster: default=http://127.0.0.1:0\n"
	for _, key := range []string{"listen-client-urls", "advertise-client-urls", "listen-peer-urls", "initial-advertise-peer-urls"} {
		config += key + ": http://127.0.0.1:0\n"
	}
	file := filepath.Join(p.folder, "etcd.yaml")
	p.env = append(p.env, "ETCD_CONFIG_PATH="+file)
	return health, os.WriteFile(file, []byte(config), 0o600)
}

// MilvusURL returns the URL of an index in the light server.
func (p *Process) MilvusURL() string { return "milvus://" + p.Address + "?analyzer=standard" }

// MilvusCoreURL returns the URL of an index in the core, which has neither HNSW nor
// partition keys.
func (p *Process) MilvusCoreURL() string {
	return "milvus://" + p.Address + "?index=FLAT&partition_key=false"
}

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
