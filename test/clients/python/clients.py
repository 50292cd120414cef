"""What Python programs do, against the server of a kubeconfig: clients.py KUBECONFIG NAMESPACE."""

import sys
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

kubeconfig, namespace = sys.argv[1:3]
api = config.new_client_from_config(kubeconfig)
core = client.CoreV1Api(api)
apps = client.AppsV1Api(api)


def ok(what, holds=True):
    if not holds:
        sys.exit(f"FAIL {what}")
    print(f"ok {what}", flush=True)


def status_of(call):
    try:
        call()
    except ApiException as error:
        return error.status
    return 200


core.create_namespace({"metadata": {"name": namespace}})
body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="typed", labels={"app": "py"}), data={"a": "1"})
made = core.create_namespaced_config_map(namespace, body)
ok("typed create", made.metadata.uid is not None and made.metadata.creation_timestamp.year >= 2024)
ok("typed conflict", status_of(lambda: core.create_namespaced_config_map(namespace, body)) == 409)
ok("typed patch", core.patch_namespaced_config_map("typed", namespace, {"data": {"b": "2"}}).data == {"a": "1", "b": "2"})
made.data = {"c": "3"}
ok("typed stale replace", status_of(lambda: core.replace_namespaced_config_map("typed", namespace, made)) == 409)
ok("typed list", [m.metadata.name for m in core.list_namespaced_config_map(namespace, label_selector="app=py").items] == ["typed"])
ok("not found", status_of(lambda: core.read_namespaced_config_map("none", namespace)) == 404)

deployment = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]}},
    },
}
utils.create_from_dict(api, deployment, namespace=namespace)


def scaled(tries=20):
    scale = apps.read_namespaced_deployment_scale("web", namespace)
    scale.spec.replicas = 1
    try:
        return apps.replace_namespaced_deployment_scale("web", namespace, scale)
    except ApiException as error:
        # Controllers write to a new Deployment too, here as on any cluster.
        if error.status != 409 or tries == 0:
            raise
        time.sleep(0.1)
        return scaled(tries - 1)


ok("scale", scaled().spec.replicas == 1)
ok("typed defaults", apps.read_namespaced_deployment("web", namespace).spec.strategy.rolling_update.max_surge == "25%")

loose = dynamic.DynamicClient(api)
maps = loose.resources.get(api_version="v1", kind="ConfigMap")
maps.create(body={"metadata": {"name": "loose"}, "data": {"a": "1"}}, namespace=namespace)
ok("dynamic get", maps.get(name="loose", namespace=namespace).data.a == "1")
patched = maps.patch(body={"data": {"a": None, "b": "2"}}, name="loose", namespace=namespace, content_type="application/merge-patch+json")
ok("dynamic merge patch", patched.data.to_dict() == {"b": "2"})
applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
maps.server_side_apply(body=applied, name="applied", namespace=namespace, field_manager="py")
ok("dynamic apply", maps.get(name="applied", namespace=namespace).metadata.managedFields[0].manager == "py")
ok("dynamic list", {m.metadata.name for m in maps.get(namespace=namespace).items} >= {"typed", "loose", "applied"})

seen = []
listed = core.list_namespaced_config_map(namespace)
core.create_namespaced_config_map(namespace, {"metadata": {"name": "late"}})
core.delete_namespaced_config_map("late", namespace)
stream = watch.Watch()
for event in stream.stream(core.list_namespaced_config_map, namespace, resource_version=listed.metadata.resource_version, timeout_seconds=60):
    seen.append((event["type"], event["object"].metadata.name))
    if event["type"] == "DELETED":
        stream.stop()
ok("watch", seen == [("ADDED", "late"), ("DELETED", "late")])
for event in loose.watch(maps, namespace=namespace, name="loose", timeout=60):
    ok("dynamic watch", event["object"].metadata.name == "loose")
    break

maps.delete(name="loose", namespace=namespace)
ok("dynamic delete", status_of(lambda: core.read_namespaced_config_map("loose", namespace)) == 404)
core.delete_namespace(namespace)
deadline = time.time() + 200
while status_of(lambda: core.read_namespace(namespace)) != 404:
    if time.time() > deadline:
        ok("namespace deleted", False)
    time.sleep(0.2)
ok("namespace deleted")
