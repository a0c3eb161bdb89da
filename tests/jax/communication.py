"""Bytes that a device receives in the cases of ../shared/peers/communication, of models_on_meshes.py and of
loops_on_meshes.py, at most as many as XLA's.

    python tests/jax/communication.py build/release/heddle [CASE...]

Needs jax, optax and that folder, and is skipped (77) where one of them is missing. Programs are
lowered by JAX and dealt out by Heddle; nothing is compiled or run.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SHARED = Path(__file__).resolve().parents[3] / "shared" / "peers" / "communication"

# The least in MB of XLA on the CPU, the same with all-reduces that are sliced counted as
# reduce-scatters, XLA for a TPU, and Heddle before. And the most collectives: what was reached, nowhere
# more than XLA's on the CPU, which has 1 in c01, 33 in c04d, 52 in c08 and 30 in c12a.
MOST = {
    "c01_gpt_dp8": (118.56, 1), "c02_gpt_tp8": (267.0, 48), "c04_gpt_fsdp": (155.38, 16),
    "c04b_gpt_fsdp_mats": (155.37, 15), "c04c_gpt_fsdp_lastdim": (219.55, 16), "c04d_llama_fsdp": (128.50, 13),
    "c05_gpt_zero1": (125.91, 6), "c07_moe_ep8": (88.0, 16), "c08_resnet_dp8": (98.41, 52),
    "c09a_resnet_h8": (101.8, 81), "c09b_unet_h8": (34.60, 137), "c10a_shallow_2x4": (0.4916, 60),
    "c10b_jacobi_2x4": (0.2049, 150), "c11a_cg_rows8": (0.1113, 5), "c11b_cg_2x4": (0.018, 6),
    "c12a_llama_scan_kv8": (160.5, 29),
}
# Of models_on_meshes.py: the lesser one of XLA on the CPU and the same with reduce-scatters; collectives as reached.
# XLA has 13 in vit_dp2_tp4 and 5 in state_space_dp2_tp4, and in all others at least as many.
MOST |= {
    "vit_dp2_tp4": (70.74, 14), "t5_tp8": (95.44, 24), "gqa_tp4_kv2_repeated": (133.5, 24),
    "gqa_tp4_kv2_columns": (167.3, 35), "fsdp_tp_2x4": (317.4, 25), "sequence_parallel_tp8": (259.3, 47),
    "context_parallel_8": (144.1, 13), "zero1_llama_dp4_tp2": (99.4, 23), "conv_channels_tp8": (117.44, 8),
    "conv_columns_dp2_tp4": (57.14, 18), "vocabulary_tp8": (7.457, 4), "lstm_dp2_tp4": (14.19, 199),
    "experts_top2_2x4": (31.9, 14), "lamb_states_dp8": (11.49, 5), "tables_of_a_recommender_8": (3.908, 4),
    "graph_edges_8": (15.14, 4), "spectral_rows_8": (71.59, 13), "state_space_dp2_tp4": (44.05, 6),
    "heat_rows_8": (148.5, 20), "kmeans_rows_8": (0.1479, 10),
}
# Of loops_on_meshes.py: XLA's again, and where it sums or brings the same in every turn what was reached.
# XLA has 199 collectives in recurrence_fsdp_8.
MOST |= {
    "gated_recurrence_dp8": (39.46, 65), "recurrence_fsdp_8": (32.58, 201), "one_layer_many_times_dp8": (3.672, 1),
    "gradients_of_parts_dp8": (3.670, 1), "attention_by_blocks_8": (29.36, 1), "attention_in_windows_8": (18.35, 4),
    "waves_on_a_staggered_grid_2x4": (0.0410, 80), "lattice_boltzmann_2x4": (0.0461, 60), "bodies_8": (0.1147, 6),
    "llama_on_three_axes": (111.3, 37), "separable_convolutions_on_three_axes": (1.8649, 52),
}
SLACK = 1.02


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def cases():
    if not (SHARED / "cases.py").exists():
        skip(f"{SHARED} is not there")
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(SHARED))
    try:
        import cases as found
        import measure
        import loops_on_meshes
        import models_on_meshes as more
    except ImportError as error:
        skip(error)
    makers = {name: lambda build=build: build(False) for name, build in found.CASES.items()}
    return makers | more.CASES | loops_on_meshes.CASES, measure


def tally(heddle, build, measure, name, folder):
    import jax
    function, arguments, options, trips = build()
    text = jax.jit(function, keep_unused=True, **options).lower(*arguments).as_text()
    program = Path(folder) / f"{name}.mlir"
    program.write_text(text)
    ran = subprocess.run([heddle, "plan", str(program), "--mesh", "@mesh", "--program"], capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{name}: {ran.stderr}")
    return measure.heddle_tally(ran.stdout.replace("complex<f32>", "f64"), trips)  # as many bytes


def main():
    heddle, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    found, measure = cases()
    worse = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, build in found.items():
            if wanted and not any(name.startswith(w) for w in wanted):
                continue
            one = tally(heddle, build, measure, name, folder)
            count, megabytes = sum(one.count.values()), one.total() / 1e6
            most, collectives = MOST.get(name, (float("inf"), float("inf")))
            bad = megabytes > most * SLACK or count > collectives
            worse += bad
            print(f"{name:36} {megabytes:10.4f} MB of {most:9.4f}  {count:4g} of {collectives:g} collectives"
                  + ("  TOO MUCH" if bad else ""))
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
