"""The manifests of deploy/kubernetes: valid, and with few rights for each pod."""

import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from inbox.platform.deployment.secret_settings import SECRET_SETTINGS
from tests.support.processes import REPOSITORY, SIGNER_COMMAND, WEB_COMMAND, WORKER_COMMAND
from tests.unit.repository.test_deployment_files import read_settings

FOLDER = REPOSITORY / "deploy" / "kubernetes"
RESOURCES = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
DOCUMENTS = [
    document for name in RESOURCES for document in yaml.safe_load_all((FOLDER / name).read_text())
]
PODS = {
    document["metadata"]["name"]: document["spec"]["template"]["spec"]
    for document in DOCUMENTS
    if document["kind"] in ("Deployment", "Job")
}
SETTINGS = next(document["data"] for document in DOCUMENTS if document["kind"] == "ConfigMap")
USER = int(re.search(r"^USER (\d+)$", (REPOSITORY / "Dockerfile").read_text(), re.M)[1])


def of_kind(kind):
    return {row["metadata"]["name"]: row["spec"] for row in DOCUMENTS if row["kind"] == kind}


def secrets_of(pod):
    return {volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda row: f"{row['kind']} {row['metadata']['name']}"
)
def test_manifest_has_the_schema_of_kubernetes(document):
    kubernetes_validate.validate(document, "1.32", strict=True)


def test_every_file_is_applied():
    files = {path.name for path in FOLDER.iterdir()}

    assert files == {*RESOURCES, "kustomization.yaml"}


@pytest.mark.parametrize("name", PODS)
def test_pods_have_no_more_rights_than_they_need(name):
    pod = PODS[name]
    (container,) = pod["containers"]

    security, own = pod["securityContext"], container["securityContext"]
    assert security["runAsNonRoot"] is True
    assert (security["runAsUser"], security["fsGroup"]) == (USER, USER)
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert pod["automountServiceAccountToken"] is False
    assert container["resources"]["limits"]["memory"]
    assert container["resources"]["requests"]["cpu"]
    for volume in pod["volumes"]:
        assert volume.get("secret", {"defaultMode": 0o440})["defaultMode"] == 0o440
        assert "hostPath" not in volume


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("signoff-web", WEB_COMMAND),
        ("signoff-worker", WORKER_COMMAND),
        ("signoff-signer", SIGNER_COMMAND),
    ],
)
def test_pods_start_what_the_tests_start_and_are_probed(name, command):
    (container,) = PODS[name]["containers"]

    assert container["args"] == ["python", *command]
    assert container["livenessProbe"]
    assert container["readinessProbe"]


def test_images_have_no_tag():
    """`kustomize edit set image` names the digest; docs/deployment.md has the command."""
    images = {pod["containers"][0]["image"] for pod in PODS.values()}

    assert images == {"signoff"}
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert kustomization["images"] == [{"name": "signoff", "newName": "signoff"}]


def test_secrets_are_references_only():
    assert "Secret" not in {row["kind"] for row in DOCUMENTS}
    for name, value in SETTINGS.items():
        if name.removesuffix("_FILE") in SECRET_SETTINGS and name not in (
            "DATABASE_URL",
            "REDIS_URL",
        ):
            assert name.endswith("_FILE")
            assert value.startswith("/run/secrets/signoff/")
    for url in (SETTINGS["DATABASE_URL"], SETTINGS["REDIS_URL"]):
        assert re.match(r"[a-z]+://\w+@", url), "it has a password"


def test_connections_are_encrypted():
    assert SETTINGS["REDIS_URL"].startswith("rediss://")
    assert "sslmode=verify-full" in SETTINGS["DATABASE_URL"]
    assert SETTINGS["SIGNOFF_HTTPS"] == "1"
    assert of_kind("Ingress")["signoff"]["tls"]


def test_each_secret_belongs_to_the_pods_that_need_it():
    with_secret = {}
    for name, pod in PODS.items():
        for secret in secrets_of(pod):
            with_secret.setdefault(secret, set()).add(name)

    assert with_secret == {
        "signoff-keys": {"signoff-web", "signoff-worker", "signoff-signer", "signoff-migrate"},
        "signoff-owner": {"signoff-migrate"},
        "signoff-signer": {"signoff-signer"},
    }


def test_the_owner_migrates_and_the_application_does_the_rest():
    environment = {
        row["name"]: row["value"] for row in PODS["signoff-migrate"]["containers"][0]["env"]
    }

    assert "//signoff@" in environment["DATABASE_URL"]
    assert environment["SIGNOFF_DATABASE_PASSWORD_FILE"] == "/run/owner/owner-password"
    assert "//signoff_app@" in SETTINGS["DATABASE_URL"]


def test_settings_exist():
    known_names = read_settings()

    assert {
        name
        for name in SETTINGS
        if name.startswith("SIGNOFF_") and not {name, name.removesuffix("_FILE")} & known_names
    } == set()


def test_nothing_is_open_by_default():
    policies = of_kind("NetworkPolicy")

    assert policies["signoff-deny-all"] == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
    }
    (rule,) = policies["signoff-outside"]["egress"]
    blocked = rule["to"][0]["ipBlock"]["except"]
    assert {"10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16"} <= set(blocked)
    with_ingress = {name for name, policy in policies.items() if policy.get("ingress")}
    assert with_ingress == {"signoff-web"}


def test_a_drained_node_leaves_one_of_each():
    for name in ("signoff-web", "signoff-worker"):
        assert of_kind("PodDisruptionBudget")[name]["minAvailable"] == 1
        assert of_kind("Deployment")[name]["replicas"] >= 2
        rolling = of_kind("Deployment")[name]["strategy"]["rollingUpdate"]
        assert rolling == {"maxSurge": 1, "maxUnavailable": 0}
    assert of_kind("Deployment")["signoff-signer"]["strategy"] == {"type": "Recreate"}


def test_the_documentation_names_every_secret():
    page = (Path(REPOSITORY) / "docs" / "deployment.md").read_text()

    for secret in set().union(*map(secrets_of, PODS.values())):
        assert f"secret generic {secret}" in page
